/** Answers that give a session's token or take it away: to a program in the answer, to a browser in its cookie. */
import { Context, Duration, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { type CookieSettings, cookieName } from "#domain/identity/access/SessionCookie.ts"
import { life } from "#domain/identity/Sessions.ts"

/** How the holder of a session keeps its token: a program by itself, a browser in the cookie. */
export const Delivery = Schema.Literals(["bearer", "cookie"])
export type Delivery = typeof Delivery.Type

/** Annotation of a procedure whose answer changes the caller's token. */
export const AnswersWithToken = Context.Reference<boolean>("ballast/rpc/AnswersWithToken", {
  defaultValue: () => false
})

/**
 * What such an answer holds: a token, or null for the one that the caller has; `ended` when that is of no use any more.
 */
export const TokenAnswer = Schema.Struct({
  delivery: Schema.Literals(["bearer", "cookie", "ended"]),
  token: Schema.NullOr(Schema.String)
})
export type TokenAnswer = typeof TokenAnswer.Type

const attributes = ({ isSecure }: CookieSettings) =>
  ({ httpOnly: true, sameSite: "strict", secure: isSecure, path: "/" }) as const

/**
 * The answer with its token in the cookie, where its delivery is by cookie, and nowhere that a script can read. No
 * cache keeps it.
 */
export const tokenInCookie = <Answer extends TokenAnswer>(
  cookie: CookieSettings,
  answer: Answer,
  written: (kept: Answer) => HttpServerResponse.HttpServerResponse
) => {
  const { delivery, token } = answer
  const respond = (kept: Answer) => HttpServerResponse.setHeader(written(kept), "cache-control", "private, no-store")
  if (delivery === "ended")
    return HttpServerResponse.expireCookieUnsafe(respond(answer), cookieName(cookie), attributes(cookie))
  if (delivery === "bearer" || token === null) return respond(answer)
  return HttpServerResponse.setCookieUnsafe(respond({ ...answer, token: null }), cookieName(cookie), token, {
    ...attributes(cookie),
    maxAge: Duration.seconds(Duration.toSeconds(life))
  })
}

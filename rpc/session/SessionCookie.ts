/**
 * The wallet session of a browser: a cookie that scripts cannot read and that other sites cannot make it send
 * (`HttpOnly`, `SameSite=Strict`). Set and taken away on the interface's wire alone.
 */
import { Context, Duration, Option, Redacted, Schema } from "effect"
import { Cookies, HttpServerResponse } from "effect/http"
import { life } from "#domain/identity/Sessions.ts"

export interface CookieSettings {
  /** Whether browsers reach the service over HTTPS alone; the cookie then goes nowhere else and to no other host. */
  readonly isSecure: boolean
}

export const SessionCookie = Context.Reference<CookieSettings>("ballast/rpc/session/SessionCookie", {
  defaultValue: () => ({ isSecure: true })
})

/** How the holder of a session keeps its token: a program by itself, a browser in the cookie. */
export const Delivery = Schema.Literals(["bearer", "cookie"])
export type Delivery = typeof Delivery.Type

/** On a procedure whose answer changes the caller's token. */
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

const nameOf = ({ isSecure }: CookieSettings) => (isSecure ? "__Host-ballast_session" : "ballast_session")

const attributes = ({ isSecure }: CookieSettings) =>
  ({ httpOnly: true, sameSite: "strict", secure: isSecure, path: "/" }) as const

/** The token in a `Cookie` header. */
export const tokenOf = (cookie: CookieSettings, header: string | undefined) =>
  Option.map(Option.fromUndefinedOr(Cookies.parseHeader(header ?? "")[nameOf(cookie)]), (value) => Redacted.make(value))

/** The answer with its token in the cookie, where its delivery is by cookie, and in no place that a script can read. */
export const tokenInCookie = <Answer extends TokenAnswer>(
  cookie: CookieSettings,
  answer: Answer,
  respond: (kept: Answer) => HttpServerResponse.HttpServerResponse
) => {
  const { delivery, token } = answer
  if (delivery === "ended")
    return HttpServerResponse.expireCookieUnsafe(respond(answer), nameOf(cookie), attributes(cookie))
  if (delivery === "bearer" || token === null) return respond(answer)
  return HttpServerResponse.setCookieUnsafe(respond({ ...answer, token: null }), nameOf(cookie), token, {
    ...attributes(cookie),
    maxAge: Duration.seconds(Duration.toSeconds(life))
  })
}

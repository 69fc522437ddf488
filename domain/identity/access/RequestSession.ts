/** The wallet session that a request presents, as a bearer token or in its cookie. */
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { PermissionDenied, SessionInvalid, type TenantDisabled, ValidationFailed } from "#domain/errors/Errors.ts"
import { CookieAnswer } from "#domain/identity/access/CookieAnswer.ts"
import { bearerIn, isOfForeignPage, isOfPage, type SentHeaders } from "#domain/identity/access/presented.ts"
import { cookieIn, SessionCookie } from "#domain/identity/access/SessionCookie.ts"
import { Sessions } from "#domain/identity/Sessions.ts"
import type { FoundSession } from "#domain/identity/SessionStore.ts"
import { SignInSettings } from "#domain/identity/SignInSettings.ts"

/** A session, the token that it was presented by, and how that came. */
export interface PresentedSession {
  readonly found: FoundSession
  readonly token: Redacted.Redacted
  readonly delivery: "bearer" | "cookie"
}

/**
 * The wallet session that a request presents.
 *
 * **When to use**
 *
 * Use in middleware that provides `SignedIn` or `ExecutionReader`, whichever wire the request came by.
 */
export class RequestSession extends Context.Service<
  RequestSession,
  {
    /** `PermissionDenied` for a cookie that another origin's page made the browser send. */
    readonly find: (
      headers: SentHeaders
    ) => Effect.Effect<PresentedSession, SessionInvalid | PermissionDenied | TenantDisabled>
    /**
     * Succeeds where a new session may be kept in the cookie. `ValidationFailed` where the answer can set none,
     * `PermissionDenied` for a page of another origin, which would sign its visitor in as somebody of its choice.
     */
    readonly requireCookie: (headers: SentHeaders) => Effect.Effect<void, PermissionDenied | ValidationFailed>
  }
>()("ballast/domain/identity/access/RequestSession") {
  static readonly layer = Layer.effect(
    RequestSession,
    Effect.gen(function* () {
      const sessions = yield* Sessions
      const cookie = yield* SessionCookie
      const { origins } = yield* SignInSettings

      const presented = Effect.fnUntraced(function* (headers: SentHeaders) {
        const sent = bearerIn(headers)
        if (sent !== undefined) return { token: Redacted.make(sent), delivery: "bearer" } as const
        const kept = cookieIn(cookie, headers)
        if (Option.isNone(kept))
          return yield* new SessionInvalid({
            message:
              "Sign in with a wallet, and send the session's token as Authorization: Bearer <token> or its cookie"
          })
        if (!isOfPage(headers, origins))
          return yield* new PermissionDenied({
            message: "The session's cookie counts on the service's own pages alone"
          })
        return { token: kept.value, delivery: "cookie" } as const
      })

      return RequestSession.of({
        find: Effect.fnUntraced(function* (headers) {
          const { delivery, token } = yield* presented(headers)
          return { token, delivery, found: yield* sessions.authenticate(token) }
        }),
        requireCookie: Effect.fnUntraced(function* (headers) {
          if (!(yield* CookieAnswer))
            return yield* new ValidationFailed({
              message: "No cookie can be set here; sign in by POST /v1/rpc/identity.signIn, or ask for a bearer token",
              details: ["delivery: expected bearer on this wire"]
            })
          if (isOfForeignPage(headers, origins))
            return yield* new PermissionDenied({
              message: "The session's cookie is set for the service's own pages alone"
            })
        })
      })
    })
  )
}

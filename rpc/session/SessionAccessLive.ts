import { Context, Effect, Layer, Option, Redacted } from "effect"
import { PermissionDenied, SessionInvalid, type TenantDisabled } from "#domain/Errors.ts"
import { RequestSession } from "#domain/identity/RequestSession.ts"
import { Sessions } from "#domain/identity/Sessions.ts"
import type { FoundSession } from "#domain/identity/SessionStore.ts"
import { SignedIn } from "#domain/identity/SignedIn.ts"
import { SignInSettings } from "#domain/identity/SignInSettings.ts"
import { SessionAccess } from "#rpc/session/SessionAccess.ts"
import { type Delivery, SessionCookie, tokenOf } from "#rpc/session/SessionCookie.ts"

type Sent = Readonly<Record<string, string | undefined>>

/** What a request presents, and how. */
export interface Presented {
  readonly token: Redacted.Redacted
  readonly delivery: Delivery
}

const bearer = /^bearer (\S+)$/iu

/**
 * The session that a request presents: for the middleware, and for the procedures that answer about the session itself.
 */
export class PresentedSession extends Context.Service<
  PresentedSession,
  {
    readonly find: (
      headers: Sent
    ) => Effect.Effect<Presented & { readonly found: FoundSession }, SessionInvalid | PermissionDenied | TenantDisabled>
  }
>()("ballast/rpc/PresentedSession") {
  static readonly layer = Layer.effect(
    PresentedSession,
    Effect.gen(function* () {
      const sessions = yield* Sessions
      const cookie = yield* SessionCookie
      const { origins } = yield* SignInSettings

      /** A browser sends the origin of the page with a request, and a page cannot change that. */
      const isOurPage = ({ origin, "sec-fetch-site": site }: Sent) =>
        origin === undefined ? site === "same-origin" : origins.includes(origin)

      const presented = Effect.fnUntraced(function* (headers: Sent) {
        const sent = bearer.exec(headers["authorization"] ?? "")?.[1]
        if (sent !== undefined) return { token: Redacted.make(sent), delivery: "bearer" } as const
        const kept = tokenOf(cookie, headers["cookie"])
        if (Option.isNone(kept))
          return yield* new SessionInvalid({
            message:
              "Sign in with a wallet, and send the session's token as Authorization: Bearer <token> or its cookie"
          })
        if (!isOurPage(headers))
          return yield* new PermissionDenied({
            message: "The session's cookie counts on the service's own pages alone"
          })
        return { token: kept.value, delivery: "cookie" } as const
      })

      const find = Effect.fnUntraced(function* (headers: Sent) {
        const { delivery, token } = yield* presented(headers)
        return { token, delivery, found: yield* sessions.authenticate(token) }
      })

      return PresentedSession.of({ find })
    })
  )
}

export const SessionAccessLive = Layer.effect(
  SessionAccess,
  Effect.map(PresentedSession, ({ find }) =>
    SessionAccess.of((handled, { headers }) =>
      Effect.flatMap(find(headers), ({ found: { member, session } }) =>
        Effect.provideService(handled, SignedIn, {
          sessionId: session.sessionId,
          userId: member.userId,
          walletId: member.walletId,
          tenantId: member.tenantId,
          role: member.role
        })
      )
    )
  )
)

/** For what reads with a key as well as with a session. */
export const RequestSessionLive = Layer.effect(
  RequestSession,
  Effect.map(PresentedSession, ({ find }) =>
    RequestSession.of({ find: (headers) => Effect.map(find(headers), ({ found }) => found) })
  )
).pipe(Layer.provide(PresentedSession.layer))

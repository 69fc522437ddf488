import { Effect, Layer } from "effect"
import { RateLimits } from "#domain/request/RateLimits.ts"
import { buildWith } from "#domain/effects/buildWith.ts"
import { RequestSession } from "#domain/identity/access/RequestSession.ts"
import { SignedIn } from "#domain/identity/SignedIn.ts"
import { makeCountCall } from "#rpc/session/countCall.ts"
import { SessionAccess } from "#rpc/session/SessionAccess.ts"

export const SessionAccessLive = Layer.effect(
  SessionAccess,
  Effect.gen(function* () {
    const sessions = yield* RequestSession
    const countIn = yield* makeCountCall

    return SessionAccess.of((handled, { headers, rpc }) =>
      Effect.flatMap(sessions.find(headers), ({ found: { member, session } }) =>
        countIn(rpc)(
          session.sessionId,
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
  })
).pipe(buildWith(RateLimits, RequestSession))

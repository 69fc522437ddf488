import { Context, Effect, Layer } from "effect"
import { RateLimits } from "#domain/request/RateLimits.ts"
import { buildWith } from "#domain/effects/buildWith.ts"
import { RequestSession } from "#domain/identity/access/RequestSession.ts"
import { makeCountCall } from "#rpc/session/countCall.ts"
import { IsUncounted, Presented, PresentedAccess } from "#rpc/session/SessionAccess.ts"

export const PresentedAccessLive = Layer.effect(
  PresentedAccess,
  Effect.gen(function* () {
    const sessions = yield* RequestSession
    const countIn = yield* makeCountCall

    return PresentedAccess.of((handled, { headers, rpc }) =>
      Effect.flatMap(sessions.find(headers), (presented) => {
        const answered = Effect.provideService(handled, Presented, presented)
        const { sessionId } = presented.found.session
        return Context.get(rpc.annotations, IsUncounted) ? answered : countIn(rpc)(sessionId, answered)
      })
    )
  })
).pipe(buildWith(RateLimits, RequestSession))

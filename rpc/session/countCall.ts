/** Counts a call whose sender is known as the request of a route is counted, whichever wire it came by. */
import { Context, Effect } from "effect"
import type { Rpc } from "effect/rpc"
import type { RateLimited } from "#domain/errors/Errors.ts"
import { makeCountRequest, type Sender } from "#domain/request/countRequest.ts"
import { RateTier } from "#domain/request/RateTier.ts"
import { callAddress } from "#rpc/session/callAddress.ts"

/** Answers what runs before the handler of a procedure, in the tier that it is annotated with. */
export const makeCountCall = Effect.map(makeCountRequest, (countIn) => ({ annotations }: Rpc.AnyWithProps) => {
  const count = countIn(Context.get(annotations, RateTier))
  return <A, E, R>(
    credential: Sender["credential"],
    handled: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | RateLimited, R> =>
    Effect.withFiber((fiber) => count(fiber, { credential, address: callAddress(fiber) }, handled))
})

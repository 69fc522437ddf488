/** What requests from the client's address are counted under, for a handler. */
import { Context, Effect } from "effect"
import { RequestContext } from "#domain/request/RequestContext.ts"

export const requestAddress: Effect.Effect<string> = Effect.withFiber((fiber) =>
  Effect.succeed(Context.get(fiber.context as Context.Context<RequestContext>, RequestContext).address)
)

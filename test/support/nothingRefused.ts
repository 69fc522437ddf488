/** Layer for routes that are tried without a database: what is refused is kept nowhere. */
import { Effect, Layer } from "effect"
import { RefusedRequests } from "#domain/request/RefusedRequests.ts"

export const nothingRefused = Layer.succeed(RefusedRequests, {
  note: () => {},
  list: () => Effect.die(new Error("No refused requests are kept here"))
})

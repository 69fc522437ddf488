/** Removes idempotency keys a day after their request. */
import { DateTime, Duration, Effect, Layer } from "effect"
import { IdempotencyKeys, idempotencyKeyRetention } from "#domain/identity/IdempotencyKeys.ts"
import { removeInBatches } from "#domain/effects/removeInBatches.ts"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"

const pruneInterval = Duration.minutes(10)

export const pruneKeys = Effect.gen(function* () {
  const keys = yield* IdempotencyKeys
  const before = DateTime.subtractDuration(yield* DateTime.now, idempotencyKeyRetention)
  yield* removeInBatches((limit) => keys.prune(before, limit))
}).pipe(Effect.withSpan("KeyPruner.pruneKeys"))

/** The fiber that prunes for as long as the layer lives. */
export const KeyPruner = Layer.effectDiscard(
  keepGoingEvery(pruneKeys, { complaint: "Old idempotency keys could not be removed", interval: pruneInterval })
)

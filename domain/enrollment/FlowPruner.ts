/**
 * Removes enrollment flows a day after they expired: they cannot be used any more, and any key can make many.
 */
import { DateTime, Duration, Effect, Layer } from "effect"
import { EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import { removeInBatches } from "#domain/effects/removeInBatches.ts"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"

/**
 * Time for which a flow stays after its expiry. It is answered as unknown; a call that began earlier may still hold its
 * lease.
 */
const keptFor = Duration.days(1)
const pruneInterval = Duration.minutes(10)

/** Removes what expired more than a day ago, at most 100,000 flows. Answers how many. */
export const pruneFlows = Effect.gen(function* () {
  const store = yield* EnrollmentStore
  const before = DateTime.subtractDuration(yield* DateTime.now, keptFor)
  return yield* removeInBatches((limit) => store.pruneFlows(before, limit))
}).pipe(Effect.withSpan("FlowPruner.pruneFlows"))

/** The fiber that prunes for as long as the layer lives; a failed pass is logged and the next one tries again. */
export const FlowPruner = Layer.effectDiscard(
  keepGoingEvery(pruneFlows, { complaint: "Expired enrollment flows could not be removed", interval: pruneInterval })
)

/**
 * Loops of a run that may go round for ever. Each round is a step with a number; a later one has all that the earlier
 * ones have, so a run keeps the latest alone, and begins there when it is replayed.
 */
import { Context, Effect } from "effect"

/** An annotation of such a step: the stems of its name and of its sleeps, which a number follows. */
export const Superseding = Context.Reference<ReadonlyArray<string>>("ballast/domain/operation/Superseding", {
  defaultValue: () => []
})

/** The highest number of a stored step, by the stem of its name; given by the engine that runs it. */
export const LatestRound = Context.Reference<(stem: string) => number | undefined>(
  "ballast/domain/operation/LatestRound",
  { defaultValue: () => () => undefined }
)

/** Where a loop goes on: at its latest stored round, which is answered from what is stored, or at the first one. */
export const roundToGoOnAt = (stem: string): Effect.Effect<number> =>
  Effect.map(LatestRound, (latest) => latest(stem) ?? 1)

/** Removes what is old in short statements, and not for ever: what is left is removed by the next pass. */
import { Effect } from "effect"

/** Rows removed by one statement, and statements of one pass. */
const batch = 1_000
const maxBatches = 100

/** `remove` removes at most so many and answers how many. Answers how many there were, at most 100,000. */
export const removeInBatches = <E, R>(remove: (limit: number) => Effect.Effect<number, E, R>) =>
  Effect.gen(function* () {
    let removed = 0
    for (let pass = 0; pass < maxBatches; pass++) {
      const count = yield* remove(batch)
      removed += count
      if (count < batch) break
    }
    return removed
  })

/** A journal in memory that keeps every attempt, as a database would beyond the process that wrote it. */
import { Effect, Option } from "effect"
import type { Attempt, AttemptJournal } from "#layers/solana/lifecycle/Attempt.ts"

export interface TestJournal extends AttemptJournal<never> {
  readonly recorded: ReadonlyArray<Attempt>
}

export const newJournal = (): TestJournal => {
  const recorded: Array<Attempt> = []
  return {
    recorded,
    latest: Effect.sync(() =>
      Option.map(Option.fromUndefinedOr(recorded.at(-1)), (attempt) => ({ attempt, count: recorded.length }))
    ),
    record: (attempt) => Effect.sync(() => void recorded.push(attempt))
  }
}

/** A database that may have lost commits, as a test says. */
import { DateTime, Effect, Layer, Option } from "effect"
import { LostCommits } from "#domain/operation/LostCommits.ts"
import { UnrecordedTransactions } from "#layers/solana/execution/UnrecordedTransactions.ts"

export interface Losses {
  /** Time at which commits were lost last; null: never. */
  lostAt: DateTime.Utc | null
}

export const losses = (state: Losses) =>
  Layer.succeed(LostCommits, {
    after: (time) =>
      Effect.sync(() =>
        state.lostAt !== null && DateTime.isGreaterThan(state.lostAt, time) ? Option.some(state.lostAt) : Option.none()
      )
  })

/** Nothing is lost, so the chain is not asked. */
export const NothingLost = UnrecordedTransactions.layer.pipe(Layer.provide(losses({ lostAt: null })))

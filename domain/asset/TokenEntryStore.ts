/** Port: which listed tokens were found to be two entries to one balance. */
import { Context, type DateTime, type Effect } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"

/** Two tokens of a chain. */
export interface EntryPair {
  readonly one: AssetId
  readonly other: AssetId
}

/** What was found of two tokens. */
export interface JudgedEntries {
  /** Which of them counts. */
  readonly main: AssetId
  readonly other: AssetId
  /** Null where it could not be found out. */
  readonly areOne: boolean | null
  readonly judgedAt: DateTime.Utc
}

/** What was found of a pair just now. */
export interface EntryJudgement extends EntryPair {
  readonly areOne: boolean | null
  /** The only one of both that can be transferred; null where both can, or neither. */
  readonly only: AssetId | null
}

/**
 * Which tokens are two entries to one balance.
 *
 * **When to use**
 *
 * Use in `BalancesOnce` alone. Everything else reads balances that count once.
 */
export class TokenEntryStore extends Context.Service<
  TokenEntryStore,
  {
    /** Those of the pairs that were judged, in whatever order each names its tokens. */
    readonly judged: (pairs: ReadonlyArray<EntryPair>) => Effect.Effect<ReadonlyArray<JudgedEntries>>
    /**
     * Writes a judgement, and answers it. Of two entries that can be transferred the one that strategies name is the
     * main one, and the first by its id where they name both or none; one that was main before remains so.
     */
    readonly record: (at: DateTime.Utc, judgement: EntryJudgement) => Effect.Effect<JudgedEntries>
  }
>()("ballast/domain/asset/TokenEntryStore") {}

/**
 * Messages to the entities of effect/cluster as they are kept: the runs themselves, and the signals that they are sent.
 *
 * A row is claimed by the process that holds its shard; each claim raises its generation, and whatever is written of it
 * names the generation and does nothing when there is a younger one. A message that sleeps is claimed when its time has
 * come, as if it were sent then.
 */
import type { DateTime, Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"

export interface NewMessage {
  readonly requestId: string
  readonly key: string
  readonly shard: string
  readonly entityType: string
  readonly entityId: string
  readonly tag: string
  /** Version of the workflow's definition, under which a run begins. */
  readonly version: number
  /** JSON. */
  readonly envelope: string
  readonly at: DateTime.Utc
}

export interface ClaimedMessage {
  readonly requestId: string
  readonly shard: string
  readonly entityType: string
  readonly entityId: string
  readonly tag: string
  readonly envelope: string
  readonly generation: bigint
  readonly tries: number
  /** True for a run that was ever sent a signal. */
  readonly hasSignals: boolean
  /** True for a run whose timers are to end before it begins. */
  readonly isWoken: boolean
}

/** How the handling of a message ended. */
export interface Reply {
  readonly requestId: string
  readonly generation: bigint
  readonly replyId: string
  /** JSON. */
  readonly exit: string
  readonly at: DateTime.Utc
  readonly end:
    | { readonly _tag: "Finished" }
    /** Claimed again at that time, or at a signal; null without a time. A passing end is no try. */
    | { readonly _tag: "Waiting"; readonly until: DateTime.Utc | null; readonly isTransient: boolean }
    /** It is not claimed any more, until an operator resumes it. */
    | { readonly _tag: "Suspended"; readonly cause: string }
}

export interface Known {
  readonly requestId: string
  readonly replyId: string | null
  /** JSON; null before there is a reply. */
  readonly reply: string | null
}

export interface ClaimScope {
  readonly shards: ReadonlyArray<string>
  readonly entityTypes: ReadonlyArray<string>
  /** What of them is carried out: `versionKey` of each type and version. */
  readonly supported: ReadonlyArray<string>
  readonly at: DateTime.Utc
}

export const versionKey = (entityType: string, version: number): string => `${entityType}@${version}`

export interface MessageRows {
  /** Returns the request ids that are new; the keys of the others exist already. */
  readonly insert: (messages: ReadonlyArray<NewMessage>) => Effect.Effect<ReadonlySet<string>, SqlError>
  /** Claims up to `limit` runs whose time has come, those that wait longest first. */
  readonly claimRuns: (scope: ClaimScope, limit: number) => Effect.Effect<ReadonlyArray<ClaimedMessage>, SqlError>
  /** How many runs are due since `at` whose version is not among those that are carried out here. */
  readonly leftToOthers: (scope: Omit<ClaimScope, "shards">) => Effect.Effect<number, SqlError>
  /** Claims up to `limit` messages that are no runs. */
  readonly claimSignals: (scope: ClaimScope, limit: number) => Effect.Effect<ReadonlyArray<ClaimedMessage>, SqlError>
  /** Stores replies and gives the messages up; those of an older generation are left out. */
  readonly reply: (replies: ReadonlyArray<Reply>) => Effect.Effect<unknown, SqlError>
  readonly byKeys: (
    keys: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<Known & { readonly key: string }>, SqlError>
  readonly replies: (requestIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Known>, SqlError>
  /** Messages that have no reply yet. */
  readonly waiting: (requestIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<ClaimedMessage>, SqlError>
  /** Lets a message be claimed at once, unless it has another reply than the expected one, or is suspended. */
  readonly wake: (
    requestId: string,
    expectedReplyId: string | null,
    at: DateTime.Utc
  ) => Effect.Effect<unknown, SqlError>
  /** Gives up what was claimed and could not begin; what another process has claimed since is left alone. */
  readonly giveBack: (claims: ReadonlyArray<ClaimedMessage>) => Effect.Effect<unknown, SqlError>
  /** Takes a try back of runs that were lost by no fault of theirs. */
  readonly excuse: (requestIds: ReadonlyArray<string>) => Effect.Effect<unknown, SqlError>
  /**
   * Frees what is claimed of shards that the process holds, beside its known claims; returns how many. An excused one
   * does not count as an attempt.
   */
  readonly freeBeside: (
    shards: ReadonlyArray<string>,
    known: ReadonlyArray<string>,
    isExcused: boolean
  ) => Effect.Effect<number, SqlError>
  readonly removeEntity: (entityType: string, entityId: string) => Effect.Effect<unknown, SqlError>
  /** Deletes up to `limit` runs that finished before the given time, with their steps and signals; returns how many. */
  readonly clean: (before: DateTime.Utc, limit: number) => Effect.Effect<number, SqlError>
}

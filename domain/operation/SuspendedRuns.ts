/**
 * Port: runs that do not go on until an operator acts. They failed by a defect again and again, never came
 * to their first step, or hold a stored result that this version cannot read. What they have done is stored; a run that
 * is resumed goes on behind it.
 */
import { Context, type Effect, type Option, Schema } from "effect"

export const SuspendedRun = Schema.Struct({
  executionId: Schema.String,
  workflow: Schema.String,
  operationId: Schema.NullOr(Schema.String),
  suspendedAt: Schema.DateTimeUtc,
  cause: Schema.String,
  tries: Schema.Int,
  /** Steps that are stored. */
  steps: Schema.Int
})
export type SuspendedRun = typeof SuspendedRun.Type

/** The most that a list shows. */
export const maxListed = 1_000

/** `NotCancellable`: the run watches a transfer or carries the owner's revocation out, and nothing was changed. */
export type RunCancelled = "Requested" | "NotCancellable" | "Unknown"

/**
 * Runs that need a person.
 *
 * **When to use**
 *
 * Use in admin routes and in the command line.
 */
export class SuspendedRuns extends Context.Service<
  SuspendedRuns,
  {
    readonly count: Effect.Effect<number>
    /** Those that stand longest first. */
    readonly list: (limit: number) => Effect.Effect<ReadonlyArray<SuspendedRun>>
    /** Finds a run by its id or by that of its operation. */
    readonly find: (id: string) => Effect.Effect<Option.Option<SuspendedRun>>
    /** Lets a run go on with all of its tries; false when no suspended run has that id. */
    readonly resume: (id: string) => Effect.Effect<boolean>
    /** Resumes a run and cancels its operation: it goes on to wait for what is signed, signs nothing more, and ends. */
    readonly cancel: (id: string) => Effect.Effect<RunCancelled>
  }
>()("ballast/domain/operation/SuspendedRuns") {}

/** What the command line can do with runs that wait for an operator. */
import { Context, type Effect, type Option } from "effect"
import type { AdminFailed } from "#src/cli/TenantAdmin.ts"
import type { RunCancelled, SuspendedRun } from "#domain/operation/SuspendedRuns.ts"

export class RunAdmin extends Context.Service<
  RunAdmin,
  {
    /** Those that stand longest first. */
    readonly list: Effect.Effect<ReadonlyArray<SuspendedRun>, AdminFailed>
    /** Finds it by the id of the run or of its operation. */
    readonly find: (id: string) => Effect.Effect<Option.Option<SuspendedRun>, AdminFailed>
    /** False when no suspended run has that id. */
    readonly resume: (id: string) => Effect.Effect<boolean, AdminFailed>
    /** Lets it go on to wait for what is signed, and no further. */
    readonly cancel: (id: string) => Effect.Effect<RunCancelled, AdminFailed>
  }
>()("ballast/src/cli/RunAdmin") {}

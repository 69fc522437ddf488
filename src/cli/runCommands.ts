/** The commands for runs that wait for an operator: `runs list|show|resume|cancel`. */
import { Console, DateTime, Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { SuspendedRun } from "#domain/operation/SuspendedRuns.ts"
import { RunAdmin } from "#src/cli/RunAdmin.ts"
import { table } from "#src/cli/table.ts"
import { AdminFailed } from "#src/cli/TenantAdmin.ts"

const json = Flag.Boolean("json").pipe(Flag.withDescription("Print JSON for machines"), Flag.withDefault(false))

const id = Argument.String("id").pipe(
  Argument.withDescription("Id of the operation, op_..., or of its run"),
  Argument.withSchema(Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_]{1,64}$/)))
)

const print = (asJson: boolean, value: unknown, forPeople: string) =>
  Console.log(asJson ? JSON.stringify(value, undefined, 2) : forPeople)

const minute = (time: DateTime.Utc): string => DateTime.formatIso(time).slice(0, 16).replace("T", " ")

const firstLine = (cause: string): string => cause.split("\n", 1)[0]!.slice(0, 80)

const runsTable = (runs: ReadonlyArray<SuspendedRun>): string =>
  runs.length === 0
    ? "No run is suspended."
    : table(
        ["OPERATION", "RUN", "KIND", "SUSPENDED (UTC)", "STEPS", "CAUSE"],
        runs.map((run) => [
          run.operationId ?? "-",
          run.executionId,
          run.workflow,
          minute(run.suspendedAt),
          String(run.steps),
          firstLine(run.cause)
        ])
      )

const runText = (run: SuspendedRun): string =>
  [
    `Run        ${run.executionId}  ${run.workflow}`,
    `Operation  ${run.operationId ?? "-"}`,
    `Suspended  ${DateTime.formatIso(run.suspendedAt)} after ${run.steps} stored steps`,
    "",
    run.cause,
    "",
    `When the cause is gone: runs resume ${run.operationId ?? run.executionId}`,
    `To sign nothing more of it, and only wait for what is signed: runs cancel ${run.operationId ?? run.executionId}`
  ].join("\n")

const unknown = (which: string) =>
  new AdminFailed({ reason: `No suspended run has the id ${which}; runs list shows those that there are` })

const list = Command.make(
  "list",
  { json },
  Effect.fn(function* ({ json }) {
    const runs = yield* (yield* RunAdmin).list
    yield* print(json, runs, runsTable(runs))
  })
).pipe(Command.withDescription("List the runs that are suspended, those that stand longest first"))

const show = Command.make(
  "show",
  { id, json },
  Effect.fn(function* ({ id, json }) {
    const found = yield* (yield* RunAdmin).find(id)
    if (Option.isNone(found)) return yield* unknown(id)
    yield* print(json, found.value, runText(found.value))
  })
).pipe(Command.withDescription("Show why a run is suspended"))

const resume = Command.make(
  "resume",
  { id, json },
  Effect.fn(function* ({ id, json }) {
    if (!(yield* (yield* RunAdmin).resume(id))) return yield* unknown(id)
    yield* print(json, { id, resumed: true }, `${id} goes on within a second, behind the steps that are stored.`)
  })
).pipe(Command.withDescription("Let a suspended run go on"))

const cancel = Command.make(
  "cancel",
  { id, json },
  Effect.fn(function* ({ id, json }) {
    const answer = yield* (yield* RunAdmin).cancel(id)
    if (answer === "Unknown") return yield* unknown(id)
    if (answer === "NotCancellable")
      return yield* new AdminFailed({
        reason: `${id} cannot be cancelled: it watches a transfer that was sent, or carries an owner's revocation out; resume it when its cause is gone`
      })
    yield* print(
      json,
      { id, cancelled: true },
      `${id} goes on within a second, waits for what is signed, signs nothing more, and ends as cancelled.`
    )
  })
).pipe(Command.withDescription("Let a suspended run end: what is signed is waited for, nothing more is signed"))

export const runs = Command.make("runs").pipe(
  Command.withDescription("Runs that wait for an operator"),
  Command.withSubcommands([list, show, resume, cancel])
)

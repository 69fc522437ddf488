/** Waiting workflows on the wire of the operator's routes. Source: interface "Workflow-monitor control routes". */
import { Schema } from "effect"
import { OperationId, PortfolioId, WorkflowId } from "#domain/values/Ids.ts"
import { integer } from "#domain/mandate/RebalancePolicy.ts"
import { OwnerAddress } from "#domain/values/OwnerAddress.ts"
import { utcFromText } from "#domain/values/UtcFromText.ts"
import { MonitorStatus, WorkflowKind, WorkflowStatus } from "#domain/monitor/Monitor.ts"
import { EvaluatedKind, Trigger, TriggerKind } from "#domain/monitor/Trigger.ts"
import { freeText, nameText } from "#http/values/freeText.ts"

/** A moment by the caller's clock. */
const asOfIso = utcFromText()

const summary = freeText({ minimum: 0, maximum: 2_000 }, "What was found, for people.", "Ether is above 2500 USD")
const requestId = Schema.String.check(
  Schema.isPattern(/^[!-~]{1,200}$/u, { expected: "1 to 200 printable characters without spaces" })
).annotate({ examples: ["workflow-monitor-tick:wf_01JQ8ZN2T4V6W8Y0A2C4E6G8H0"] })
const key = Schema.String.check(
  Schema.isPattern(/^[!-~]{1,300}$/u, { expected: "1 to 300 printable characters without spaces" })
).annotate({ examples: ["market_price:ETH"] })

const eventOf = <Kind extends Schema.Top>(kind: Kind) =>
  Schema.Struct({
    kind,
    watchKey: Schema.optionalKey(key),
    summary: Schema.optionalKey(summary),
    dependencies: Schema.optionalKey(Schema.Array(key).check(Schema.isMaxLength(50, { expected: "at most 50 keys" })))
  })

/** Accounting metrics match outside, and only as a notice. */
const EvaluatedEvent = eventOf(EvaluatedKind)
export const AnyEvent = eventOf(TriggerKind)

const named = { asOfIso, ownerAddress: OwnerAddress, workflowId: WorkflowId }

export const DuePayload = Schema.Struct({ asOfIso, limit: integer(1, 200, "How many are answered at most") })

export const TickPayload = Schema.Struct({
  ...named,
  requestId,
  workerId: requestId,
  triggerEvent: Schema.optionalKey(EvaluatedEvent)
})

export const ExecutionPayload = Schema.Struct({
  asOfIso,
  executionRequestId: requestId,
  operationId: OperationId,
  runId: requestId
})

export const TriggerMatchPayload = Schema.Struct({
  ...named,
  triggerSummary: summary,
  triggerEvent: Schema.optionalKey(AnyEvent)
})

export const RecoverPayload = Schema.Struct({
  ...named,
  portfolioId: PortfolioId,
  triggerEvent: Schema.optionalKey(AnyEvent)
})

const hour = 3_600_000

/** A workflow by the clock has times, a triggered one its trigger. */
export const WorkflowDraft = Schema.Struct({
  portfolioId: PortfolioId,
  title: nameText(256, "What people call it.", "Buy the dip"),
  trigger: Schema.optionalKey(Trigger),
  everyMs: Schema.optionalKey(integer(hour, 366 * 24 * hour, "Milliseconds between two runs")),
  firstRunAt: Schema.optionalKey(asOfIso),
  isRepeated: Schema.optionalKey(Schema.Boolean),
  needsApproval: Schema.optionalKey(Schema.Boolean)
}).check(
  Schema.makeFilter(({ everyMs, firstRunAt, isRepeated, trigger }) =>
    trigger === undefined
      ? isRepeated === undefined || {
          path: ["isRepeated"],
          issue: "Expected no isRepeated without a trigger: everyMs decides it"
        }
      : (everyMs === undefined && firstRunAt === undefined) || {
          path: [everyMs === undefined ? "firstRunAt" : "everyMs"],
          issue: "Expected no time with a trigger, which decides when it runs"
        }
  )
)

const iso = Schema.NullOr(Schema.String)

/** Null where no workflow waits for the execution. */
const found = {
  ownerAddress: Schema.NullOr(Schema.String),
  portfolioId: Schema.NullOr(Schema.String),
  requestId: Schema.NullOr(Schema.String),
  workerId: Schema.NullOr(Schema.String),
  workflowId: Schema.NullOr(Schema.String)
}

const enqueued = {
  asOfIso: Schema.String,
  enqueued: Schema.Boolean,
  ownerAddress: Schema.String,
  portfolioId: Schema.String,
  requestId: Schema.String,
  workerId: Schema.String,
  workflowId: Schema.String
}

export const Due = Schema.Struct({
  asOfIso: Schema.String,
  due: Schema.Array(
    Schema.Struct({
      monitorStatus: MonitorStatus,
      nextCheckAt: Schema.String,
      ownerAddress: Schema.String,
      /** The stable idempotency key of the tick. */
      requestId: Schema.String,
      workerId: Schema.String,
      workflowId: Schema.String,
      workflowStatus: WorkflowStatus
    })
  )
})

const workflow = Schema.Struct({
  workflowId: Schema.String,
  title: Schema.String,
  status: WorkflowStatus,
  kind: WorkflowKind,
  triggerKind: Schema.NullOr(TriggerKind),
  linkedPortfolioIds: Schema.Array(Schema.String),
  linkedOperationIds: Schema.Array(Schema.String),
  nextRunAt: iso,
  lastRunAt: iso
})

const monitorState = Schema.Struct({
  status: MonitorStatus,
  readyAt: iso,
  startedAt: iso,
  retryAfter: iso,
  waitingUntil: iso,
  completedAt: iso,
  failedAt: iso
})

export const Ticked = Schema.Struct({
  ownerAddress: Schema.String,
  requestId: Schema.String,
  userId: Schema.NullOr(Schema.String),
  workerId: Schema.String,
  workflow,
  currentExecution: Schema.NullOr(
    Schema.Struct({ executionRequestId: Schema.String, operationId: Schema.String, runId: Schema.String })
  ),
  monitorState
})

export const ExecutionNotified = Schema.Struct({
  asOfIso: Schema.String,
  enqueued: Schema.Boolean,
  matchedExecution: Schema.NullOr(Schema.Struct({ operationId: Schema.String, runId: Schema.String })),
  ...found
})

export const TriggerMatched = Schema.Struct({ ...enqueued, triggerSummary: Schema.String })
export const Recovered = Schema.Struct(enqueued)

/** The workflow as it waits, as the routes of our own answer it. */
export const Workflow = Schema.Struct({
  ownerAddress: Schema.String,
  workerId: Schema.String,
  nextCheckAt: iso,
  workflow,
  monitorState
})

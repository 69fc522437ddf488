/** How monitors are read and written. */
import { DateTime, Schema } from "effect"
import { OperationId, PortfolioId, TenantId, WorkflowId } from "#domain/values/Ids.ts"
import {
  type Monitor,
  MonitorEvent,
  MonitorStatus,
  type MonitorState,
  Wait,
  WorkflowKind,
  WorkflowStatus
} from "#domain/monitor/Monitor.ts"
import { Trigger } from "#domain/monitor/Trigger.ts"
import { SmallBigint, Timestamp } from "#layers/sql/rows.ts"

const time = Schema.NullOr(Timestamp)

export const MonitorRow = Schema.Struct({
  workflowId: WorkflowId,
  tenantId: TenantId,
  portfolioId: PortfolioId,
  ownerAddress: Schema.String,
  title: Schema.String,
  kind: WorkflowKind,
  trigger: Schema.NullOr(Trigger),
  everyMs: Schema.NullOr(SmallBigint),
  isRepeated: Schema.Boolean,
  workflowStatus: WorkflowStatus,
  status: MonitorStatus,
  wait: Schema.NullOr(Wait),
  nextCheckAt: time,
  lastTickAt: time,
  isArmed: Schema.Boolean,
  event: Schema.NullOr(MonitorEvent),
  operationId: Schema.NullOr(OperationId),
  executionRequestId: Schema.NullOr(Schema.String),
  linkedOperationIds: Schema.Array(OperationId),
  failures: Schema.Int,
  readyAt: time,
  startedAt: time,
  retryAfter: time,
  waitingUntil: time,
  completedAt: time,
  failedAt: time,
  lastRunAt: time,
  revision: SmallBigint
})

/** Columns of monitors `m` and their portfolios `p`. */
export const monitorColumns = `
  m.workflow_id AS "workflowId", m.tenant_id AS "tenantId", m.portfolio_id AS "portfolioId",
  split_part(p.owner_account_id, ':', 3) AS "ownerAddress", m.title, m.kind, m.trigger, m.every_ms AS "everyMs",
  m.is_repeated AS "isRepeated", m.workflow_status AS "workflowStatus", m.status, m.wait,
  m.next_check_at AS "nextCheckAt", m.last_tick_at AS "lastTickAt", m.is_armed AS "isArmed", m.event,
  m.operation_id AS "operationId", m.execution_request_id AS "executionRequestId",
  m.linked_operation_ids AS "linkedOperationIds", m.failures, m.ready_at AS "readyAt", m.started_at AS "startedAt",
  m.retry_after AS "retryAfter", m.waiting_until AS "waitingUntil", m.completed_at AS "completedAt",
  m.failed_at AS "failedAt", m.last_run_at AS "lastRunAt", m.revision`

export const selectMonitors = `
  SELECT ${monitorColumns} FROM workflow_monitors m JOIN portfolios p ON p.portfolio_id = m.portfolio_id`

export const toMonitor = ({
  everyMs,
  executionRequestId,
  isRepeated,
  kind,
  operationId,
  ownerAddress,
  portfolioId,
  revision,
  tenantId,
  title,
  trigger,
  workflowId,
  workflowStatus,
  ...state
}: typeof MonitorRow.Type): Monitor => ({
  workflow: {
    workflowId,
    tenantId,
    portfolioId,
    ownerAddress,
    title,
    kind,
    trigger,
    everyMs,
    isRepeated,
    status: workflowStatus
  },
  state: {
    ...state,
    execution: operationId === null ? null : { operationId, requestId: executionRequestId ?? "" }
  },
  revision
})

const iso = (at: DateTime.Utc | null): string | null => (at === null ? null : DateTime.formatIso(at))

const encodeEvent = Schema.encodeSync(Schema.toCodecJson(Schema.NullOr(MonitorEvent)))

/** The columns that a change writes, with their types. */
export const stateColumns = {
  status: "text",
  wait: "text",
  next_check_at: "timestamptz",
  last_tick_at: "timestamptz",
  is_armed: "boolean",
  event: "jsonb",
  operation_id: "text",
  execution_request_id: "text",
  linked_operation_ids: "text[]",
  failures: "integer",
  ready_at: "timestamptz",
  started_at: "timestamptz",
  retry_after: "timestamptz",
  waiting_until: "timestamptz",
  completed_at: "timestamptz",
  failed_at: "timestamptz",
  last_run_at: "timestamptz"
} as const

export const toStateColumns = (state: MonitorState): { readonly [Column in keyof typeof stateColumns]: unknown } => ({
  status: state.status,
  wait: state.wait,
  next_check_at: iso(state.nextCheckAt),
  last_tick_at: iso(state.lastTickAt),
  is_armed: state.isArmed,
  event: encodeEvent(state.event),
  operation_id: state.execution?.operationId ?? null,
  execution_request_id: state.execution?.requestId ?? null,
  linked_operation_ids: state.linkedOperationIds,
  failures: state.failures,
  ready_at: iso(state.readyAt),
  started_at: iso(state.startedAt),
  retry_after: iso(state.retryAfter),
  waiting_until: iso(state.waitingUntil),
  completed_at: iso(state.completedAt),
  failed_at: iso(state.failedAt),
  last_run_at: iso(state.lastRunAt)
})

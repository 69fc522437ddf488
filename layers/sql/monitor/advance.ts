/**
 * Advances monitors: those that are as they were seen, all in one transaction. Monitors are locked in one order, and
 * portfolios are only read, since the end of a run locks its portfolio before its monitors.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import * as Decimal from "#domain/values/Decimal.ts"
import { OperationId, PortfolioId, WorkflowId } from "#domain/values/Ids.ts"
import type { MonitorState } from "#domain/monitor/Monitor.ts"
import type { Advanced, RunToStart, Step } from "#domain/monitor/MonitorStore.ts"
import { stateColumns, toStateColumns } from "#layers/sql/monitor/monitorRows.ts"
import { firstEvents } from "#layers/sql/operation/operationEvents.ts"
import { decodeRows, timestamp } from "#layers/sql/rows.ts"
import { storableJson, storableText } from "#layers/sql/storable.ts"

const allHeld = decodeRows(Schema.Struct({ workflowId: WorkflowId }))
const allOpen = decodeRows(
  Schema.Struct({ portfolioId: PortfolioId, isPermitted: Schema.Boolean, running: Schema.NullOr(OperationId) })
)

const columns = Object.keys(stateColumns)
const setColumns = columns.map((name) => `${name} = n.${name}`).join(", ")
const typedColumns = Object.entries(stateColumns)
  .map(([name, type]) => `${name} ${type}`)
  .join(", ")

type StartingStep = Step & { readonly start: RunToStart }

const isStarting = (step: Step): step is StartingStep => step.start !== undefined

export const makeAdvance = (sql: SqlClient.SqlClient) => {
  const hold = (steps: ReadonlyArray<Step>) =>
    allHeld(sql`
      SELECT m.workflow_id AS "workflowId" FROM workflow_monitors m
      JOIN jsonb_to_recordset(${storableJson(
        steps.map(({ monitor }) => ({ workflow_id: monitor.workflow.workflowId, revision: monitor.revision }))
      )}::jsonb) AS n (workflow_id text, revision bigint)
        ON n.workflow_id = m.workflow_id AND n.revision = m.revision
      ORDER BY m.workflow_id FOR UPDATE OF m`)

  /** Whether runs may be started for the portfolios, and which are under way. */
  const open = (portfolioIds: ReadonlyArray<PortfolioId>) =>
    allOpen(sql`
      SELECT p.portfolio_id AS "portfolioId", coalesce(c.status = 'active', false) AND p.archived_at IS NULL
          AND p.revoked_at IS NULL AS "isPermitted",
        (SELECT o.operation_id FROM operations o WHERE o.portfolio_id = p.portfolio_id AND o.kind = 'rebalance'
          AND o.finished_at IS NULL AND o.state <> 'awaiting_user' LIMIT 1) AS running
      FROM portfolios p LEFT JOIN schedules c ON c.portfolio_id = p.portfolio_id
      WHERE p.portfolio_id = ANY(${portfolioIds}::text[])`)

  const accept = (steps: ReadonlyArray<StartingStep>) => sql<{ readonly operation_id: OperationId }>`
    WITH inserted AS (
      INSERT INTO operations (operation_id, tenant_id, portfolio_id, kind, trigger, state, submitted_at, updated_at,
        last_sequence, fired_by)
      SELECT n.operation_id, n.tenant_id, n.portfolio_id, 'rebalance', 'triggered', 'accepted', n.at, n.at, 1,
      n.fired_by
      FROM jsonb_to_recordset(${storableJson(
        steps.map(({ at, monitor: { workflow }, start }) => ({
          operation_id: start.operationId,
          tenant_id: workflow.tenantId,
          portfolio_id: workflow.portfolioId,
          at: timestamp(at),
          fired_by: { ...start.firedBy, summary: storableText(start.firedBy.summary) }
        }))
      )}::jsonb) AS n (operation_id text, tenant_id text, portfolio_id text, at timestamptz, fired_by jsonb)
      ON CONFLICT DO NOTHING RETURNING operation_id, submitted_at, trigger
    ) ${firstEvents(sql)} RETURNING operation_id`

  /** The state of each that starts a run, by what its portfolio allows; none for one whose run ended just now. */
  const startAll = Effect.fnUntraced(function* (steps: ReadonlyArray<StartingStep>) {
    const states = new Map<WorkflowId, MonitorState>()
    const launches = new Map<WorkflowId, OperationId>()
    if (steps.length === 0) return { states, launches }
    const portfolioIds = steps.map(({ monitor }) => monitor.workflow.portfolioId)
    const before = new Map((yield* open(portfolioIds)).map((row) => [row.portfolioId, row]))
    const of = ({ monitor }: Step) => before.get(monitor.workflow.portfolioId)
    const free = steps.filter((step) => of(step)?.isPermitted === true && of(step)?.running === null)
    const accepted = new Set(free.length === 0 ? [] : (yield* accept(free)).map((row) => row.operation_id))
    const isBeaten = (step: StartingStep) => free.includes(step) && !accepted.has(step.start.operationId)
    const beaten = steps.filter(isBeaten)
    const after =
      beaten.length === 0
        ? new Map()
        : new Map((yield* open(portfolioIds)).map(({ portfolioId, running }) => [portfolioId, running]))
    for (const step of steps) {
      const { next, start } = step
      const { portfolioId, workflowId } = step.monitor.workflow
      if (accepted.has(start.operationId)) {
        states.set(workflowId, start.started(start.operationId, true))
        launches.set(workflowId, start.operationId)
        continue
      }
      const running = of(step)?.running ?? after.get(portfolioId) ?? null
      if (of(step)?.isPermitted !== true) states.set(workflowId, next)
      else if (running !== null) states.set(workflowId, start.started(running, false))
    }
    return { states, launches }
  })

  const write = (changed: ReadonlyArray<readonly [WorkflowId, MonitorState]>) => sql`
    UPDATE workflow_monitors m SET ${sql.literal(setColumns)}, revision = m.revision + 1, claimed_until = NULL
    FROM jsonb_to_recordset(${storableJson(
      changed.map(([workflowId, state]) => ({ workflow_id: workflowId, ...toStateColumns(state) }))
    )}::jsonb) AS n (workflow_id text, ${sql.literal(typedColumns)})
    WHERE m.workflow_id = n.workflow_id`

  const watch = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>) {
    const watching = steps.filter(({ watches }) => watches !== undefined)
    if (watching.length === 0) return
    yield* sql`
      DELETE FROM monitor_watches
      WHERE workflow_id = ANY(${watching.map(({ monitor }) => monitor.workflow.workflowId)}::text[])`
    const rows = watching.flatMap(({ monitor, watches = [] }) =>
      watches.map(({ assetId, high, low }) => ({
        workflow_id: monitor.workflow.workflowId,
        asset_id: assetId,
        low: low === null ? null : Decimal.format(low, 18),
        high: high === null ? null : Decimal.format(high, 18)
      }))
    )
    if (rows.length === 0) return
    yield* sql`
      INSERT INTO monitor_watches (workflow_id, asset_id, low, high)
      SELECT * FROM jsonb_to_recordset(${storableJson(rows)}::jsonb)
        AS n (workflow_id text, asset_id text, low numeric, high numeric)`
  })

  const recordTicks = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>) {
    const rows = steps.flatMap(({ at, key, monitor }) =>
      key === undefined
        ? []
        : [
            {
              request_id: key.requestId,
              workflow_id: monitor.workflow.workflowId,
              fingerprint: key.fingerprint,
              at: timestamp(at)
            }
          ]
    )
    if (rows.length === 0) return
    yield* sql`
      INSERT INTO monitor_ticks (request_id, workflow_id, fingerprint, at)
      SELECT * FROM jsonb_to_recordset(${storableJson(rows)}::jsonb)
        AS n (request_id text, workflow_id text, fingerprint text, at timestamptz)
      ON CONFLICT DO NOTHING`
  })

  return Effect.fn("MonitorStore.advance")(
    function* (steps: ReadonlyArray<Step>) {
      const held = new Set((yield* hold(steps)).map(({ workflowId }) => workflowId))
      const current = steps.filter(({ monitor }) => held.has(monitor.workflow.workflowId))
      const { launches, states } = yield* startAll(current.filter(isStarting))
      const changed = current.flatMap((step) => {
        const { workflowId } = step.monitor.workflow
        const state = isStarting(step) ? states.get(workflowId) : step.next
        return state === undefined ? [] : [{ step, workflowId, state }]
      })
      if (changed.length === 0) return []
      yield* write(changed.map(({ state, workflowId }) => [workflowId, state] as const))
      yield* watch(changed.map(({ step }) => step))
      yield* recordTicks(changed.map(({ step }) => step))
      return changed.map(({ workflowId }): Advanced => ({ workflowId, launch: launches.get(workflowId) ?? null }))
    },
    sql.withTransaction,
    Effect.orDie
  )
}

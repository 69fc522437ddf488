/** Monitors in PostgreSQL. */
import { type DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { OperationId, PortfolioId, type StrategyId, type TenantId, UserId, WorkflowId } from "#domain/values/Ids.ts"
import type { LinkedRun, MonitorState, Workflow } from "#domain/monitor/Monitor.ts"
import { maxWorkflows, MonitorStore } from "#domain/monitor/MonitorStore.ts"
import { Trigger } from "#domain/monitor/Trigger.ts"
import { OperationState } from "#domain/operation/Operation.ts"
import { OperationOutcome } from "#domain/operation/OperationResult.ts"
import { makeAdvance } from "#layers/sql/monitor/advance.ts"
import {
  MonitorRow,
  monitorColumns,
  selectMonitors,
  toMonitor,
  toStateColumns
} from "#layers/sql/monitor/monitorRows.ts"
import { makeWatches } from "#layers/sql/monitor/watches.ts"
import { ContextColumns, joinContext, selectContext, toContext } from "#layers/sql/rebalance/planContexts.ts"
import { decodeFirst, decodeRows, Timestamp, timestamp } from "#layers/sql/rows.ts"
import { storableJson, storableText } from "#layers/sql/storable.ts"

/** Portfolios of one transaction, ticks that one statement deletes. */
const batchSize = 500

const firstMonitor = decodeFirst(MonitorRow)
const allMonitors = decodeRows(MonitorRow)
const allContexts = decodeRows(Schema.Struct(ContextColumns))
const allCounts = decodeRows(Schema.Struct({ portfolioId: PortfolioId, count: Schema.Int }))
const allEnds = decodeRows(
  Schema.Struct({ operationId: OperationId, state: OperationState, outcome: Schema.NullOr(OperationOutcome) })
)
const firstTick = decodeFirst(Schema.Struct({ workflowId: WorkflowId, fingerprint: Schema.String }))
const firstUser = decodeFirst(Schema.Struct({ userId: UserId }))
const firstState = decodeFirst(Schema.Struct({ failed: Schema.Int, oldestDueAt: Schema.NullOr(Timestamp) }))

const encodeTrigger = Schema.encodeSync(Schema.toCodecJson(Schema.NullOr(Trigger)))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The portfolio's row puts concurrent insertions in line, so that the bound holds.
  const insert = Effect.fn("MonitorStore.insert")(
    function* (workflow: Omit<Workflow, "ownerAddress" | "tenantId">, state: MonitorState, at: DateTime.Utc) {
      const { event, linked_operation_ids, ...columns } = toStateColumns(state)
      const [portfolio] = yield* sql<{ readonly tenant_id: TenantId }>`
        SELECT tenant_id FROM portfolios WHERE portfolio_id = ${workflow.portfolioId} AND archived_at IS NULL
        FOR NO KEY UPDATE`
      if (portfolio === undefined) return "no_portfolio" as const
      const others = yield* sql`SELECT 1 FROM workflow_monitors WHERE portfolio_id = ${workflow.portfolioId}`
      if (others.length >= maxWorkflows) return "too_many" as const
      yield* sql`INSERT INTO workflow_monitors ${sql.insert({
        workflow_id: workflow.workflowId,
        tenant_id: portfolio.tenant_id,
        portfolio_id: workflow.portfolioId,
        title: storableText(workflow.title),
        kind: workflow.kind,
        trigger: workflow.trigger === null ? null : storableJson(encodeTrigger(workflow.trigger)),
        every_ms: workflow.everyMs,
        is_repeated: workflow.isRepeated,
        is_of_strategy: false,
        workflow_status: workflow.status,
        ...(columns as Record<string, string | number | boolean | null>),
        event: event === null ? null : storableJson(event),
        linked_operation_ids: linked_operation_ids as Array<string>,
        revision: 1,
        created_at: timestamp(at)
      })}`
      return "inserted" as const
    },
    sql.withTransaction,
    Effect.orDie
  )

  const find = Effect.fn("MonitorStore.find")((workflowId: WorkflowId) =>
    Effect.map(
      firstMonitor(sql`${sql.literal(selectMonitors)} WHERE m.workflow_id = ${workflowId}`),
      Option.map(toMonitor)
    )
  )

  const awaiting = Effect.fn("MonitorStore.awaiting")(({ operationId, requestId }: LinkedRun) =>
    Effect.map(
      firstMonitor(sql`
        ${sql.literal(selectMonitors)}
        WHERE m.operation_id = ${operationId} AND m.execution_request_id = ${requestId} LIMIT 1`),
      Option.map(toMonitor)
    )
  )

  const due = Effect.fn("MonitorStore.due")((asOf: DateTime.Utc, limit: number) =>
    Effect.map(
      allMonitors(sql`
        ${sql.literal(selectMonitors)} WHERE m.workflow_status = 'active' AND m.next_check_at <= ${timestamp(asOf)}
        ORDER BY m.next_check_at, m.workflow_id LIMIT ${limit}`),
      (rows) => rows.map(toMonitor)
    )
  )

  const claim = Effect.fn("MonitorStore.claim")((at: DateTime.Utc, until: DateTime.Utc, limit: number) =>
    Effect.map(
      allMonitors(sql`
        WITH free AS MATERIALIZED (
          SELECT workflow_id FROM workflow_monitors
          WHERE workflow_status = 'active' AND next_check_at <= ${timestamp(at)}
            AND (claimed_until IS NULL OR claimed_until <= ${timestamp(at)})
          ORDER BY next_check_at, workflow_id LIMIT ${limit} FOR UPDATE SKIP LOCKED
        ), m AS (
          UPDATE workflow_monitors m SET claimed_until = ${timestamp(until)} FROM free
          WHERE m.workflow_id = free.workflow_id RETURNING m.*
        )
        SELECT ${sql.literal(monitorColumns)} FROM m JOIN portfolios p ON p.portfolio_id = m.portfolio_id`),
      (rows) => rows.map(toMonitor)
    )
  )

  const tick = Effect.fn("MonitorStore.tick")((requestId: string) =>
    firstTick(sql`
      SELECT workflow_id AS "workflowId", fingerprint FROM monitor_ticks WHERE request_id = ${requestId}`)
  )

  const approve = Effect.fn("MonitorStore.approve")(
    (workflowId: WorkflowId, at: DateTime.Utc) =>
      Effect.map(
        sql`
          UPDATE workflow_monitors SET workflow_status = 'active', revision = revision + 1,
            next_check_at = greatest(next_check_at, ${timestamp(at)}, last_tick_at + interval '1 millisecond')
          WHERE workflow_id = ${workflowId} AND workflow_status = 'pending_approval' RETURNING 1`,
        (rows) => rows.length > 0
      ),
    Effect.orDie
  )

  const remove = Effect.fn("MonitorStore.remove")(
    (workflowId: WorkflowId) =>
      Effect.map(
        sql`DELETE FROM workflow_monitors WHERE workflow_id = ${workflowId} AND NOT is_of_strategy RETURNING 1`,
        (rows) => rows.length > 0
      ),
    Effect.orDie
  )

  const follow = Effect.fn("MonitorStore.follow")(
    function* (now: DateTime.Utc) {
      const [change] = yield* sql<{ readonly strategy_id: StrategyId; readonly after: string }>`
        SELECT strategy_id, after_portfolio_id AS after FROM trigger_changes
        ORDER BY strategy_id LIMIT 1 FOR UPDATE SKIP LOCKED`
      if (change === undefined) return false
      const rows = yield* sql<{ readonly portfolio_id: PortfolioId }>`
        SELECT portfolio_id FROM portfolios
        WHERE strategy_id = ${change.strategy_id} AND archived_at IS NULL AND portfolio_id > ${change.after}
        ORDER BY portfolio_id LIMIT ${batchSize}`
      const portfolioIds = rows.map((row) => row.portfolio_id)
      yield* sql`SELECT follow_triggers(${portfolioIds}::text[], ${timestamp(now)})`
      yield* portfolioIds.length < batchSize
        ? sql`DELETE FROM trigger_changes WHERE strategy_id = ${change.strategy_id}`
        : sql`
            UPDATE trigger_changes SET after_portfolio_id = ${portfolioIds.at(-1)}
            WHERE strategy_id = ${change.strategy_id}`
      return true
    },
    sql.withTransaction,
    Effect.orDie
  )

  const deleteTicks = Effect.fn("MonitorStore.deleteTicks")(
    (before: DateTime.Utc) =>
      Effect.map(
        sql`
          DELETE FROM monitor_ticks WHERE request_id IN (
            SELECT request_id FROM monitor_ticks WHERE at < ${timestamp(before)} ORDER BY at LIMIT ${batchSize}
            FOR UPDATE SKIP LOCKED
          ) RETURNING 1`,
        (rows) => rows.length
      ),
    Effect.orDie
  )

  const state = Effect.fn("MonitorStore.state")((now: DateTime.Utc) =>
    Effect.map(
      firstState(sql`
        SELECT (SELECT count(*)::int FROM workflow_monitors WHERE status = 'failed') AS failed,
          (SELECT min(next_check_at) FROM workflow_monitors
            WHERE workflow_status = 'active' AND next_check_at <= ${timestamp(now)}) AS "oldestDueAt"`),
      Option.getOrThrow
    )
  )

  const contexts = Effect.fn("MonitorStore.contexts")((portfolioIds: ReadonlyArray<PortfolioId>) =>
    Effect.map(
      allContexts(sql`
        SELECT ${sql.literal(selectContext)}
        FROM portfolios p ${sql.literal(joinContext)}
        JOIN schedules c ON c.portfolio_id = p.portfolio_id
        WHERE p.portfolio_id = ANY(${portfolioIds}::text[]) AND c.status = 'active' AND c.checked_at IS NOT NULL
          AND p.archived_at IS NULL AND p.revoked_at IS NULL
          AND NOT EXISTS (
            SELECT FROM operations o
            WHERE o.portfolio_id = p.portfolio_id AND o.kind = 'rebalance' AND o.finished_at IS NULL
              AND o.state <> 'awaiting_user'
          )
          AND NOT EXISTS (SELECT FROM transfer_intents d WHERE d.portfolio_id = p.portfolio_id)`),
      (rows) => rows.map(toContext)
    )
  )

  const pendingApprovals = Effect.fn("MonitorStore.pendingApprovals")((portfolioIds: ReadonlyArray<PortfolioId>) =>
    Effect.map(
      allCounts(sql`
        SELECT portfolio_id AS "portfolioId", count(*)::int AS count FROM (
          SELECT portfolio_id FROM awaited_signatures WHERE portfolio_id = ANY(${portfolioIds}::text[])
          UNION ALL
          SELECT portfolio_id FROM workflow_monitors
          WHERE portfolio_id = ANY(${portfolioIds}::text[]) AND workflow_status = 'pending_approval'
        ) pending GROUP BY portfolio_id`),
      (rows) => new Map(rows.map(({ count, portfolioId }) => [portfolioId, count] as const))
    )
  )

  const ended = Effect.fn("MonitorStore.ended")((operationIds: ReadonlyArray<OperationId>) =>
    allEnds(sql`
      SELECT operation_id AS "operationId", state, outcome FROM operations
      WHERE operation_id = ANY(${operationIds}::text[]) AND finished_at IS NOT NULL`)
  )

  const userOf = Effect.fn("MonitorStore.userOf")((portfolioId: PortfolioId) =>
    Effect.map(
      firstUser(sql`
        SELECT u.user_id AS "userId" FROM portfolios p JOIN users u ON u.wallet_id = p.owner_account_id
        WHERE p.portfolio_id = ${portfolioId}`),
      Option.map((row) => row.userId)
    )
  )

  return MonitorStore.of({
    insert,
    find,
    awaiting,
    due,
    claim,
    advance: makeAdvance(sql),
    tick,
    approve,
    remove,
    ...makeWatches(sql),
    follow,
    deleteTicks,
    state,
    contexts,
    pendingApprovals,
    ended,
    userOf
  })
})

export const layer = Layer.effect(MonitorStore, make)

/**
 * Claims of due portfolios, by any number of processes at once: each takes rows that no other one holds, and moves
 * them to their next due time in the transaction that accepts their operations.
 *
 * Those that wait longest come first. While more is due than a batch holds, every second batch goes to tenants in turn
 * instead, so that one with a million due portfolios does not keep the others waiting.
 */
import { type DateTime, Effect, Ref, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { makeOperationId, type OperationId, PortfolioId } from "#domain/Ids.ts"
import { Frequency, nextDueAt } from "#domain/RebalanceSchedule.ts"
import { firstEvents } from "#layers/sql/operationEvents.ts"
import { decodeRows, Timestamp, timestamp } from "#layers/sql/rows.ts"

const DueRow = Schema.Struct({ portfolioId: PortfolioId, dueAt: Timestamp, frequency: Frequency })
const allDue = decodeRows(DueRow)

/** Tenants that get their share in one batch. */
const tenantsInTurn = 32

export const makeClaimDue = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const random = yield* SecureRandom.SecureRandom

  const isTenantsTurn = yield* Ref.make(false)
  /** The tenant whose turn was last. */
  const lastTenant = yield* Ref.make("")

  const oldest = (now: Date, limit: number) => sql`
    SELECT portfolio_id, due_at FROM schedules
    WHERE status = 'active' AND due_at <= ${now}
    ORDER BY due_at, portfolio_id LIMIT ${limit} FOR UPDATE SKIP LOCKED`

  const ofTenants = (now: Date, tenantIds: ReadonlyArray<string>, limit: number) => sql`
    SELECT d.portfolio_id, d.due_at FROM unnest(${tenantIds}::text[]) AS t (tenant_id) CROSS JOIN LATERAL (
      SELECT portfolio_id, due_at FROM schedules
      WHERE status = 'active' AND tenant_id = t.tenant_id AND due_at <= ${now}
      ORDER BY due_at, portfolio_id LIMIT ${Math.ceil(limit / tenantIds.length)} FOR UPDATE SKIP LOCKED
    ) d LIMIT ${limit}`

  // Each step of the recursion is one look into the index, however many schedules a tenant has.
  const tenantsAfter = (tenantId: string) =>
    sql<{ readonly tenant_id: string }>`
      WITH RECURSIVE turns (tenant_id) AS (
        SELECT min(tenant_id) FROM schedules WHERE status = 'active' AND tenant_id > ${tenantId}
        UNION ALL
        SELECT (SELECT min(s.tenant_id) FROM schedules s WHERE s.status = 'active' AND s.tenant_id > t.tenant_id)
        FROM turns t WHERE t.tenant_id IS NOT NULL
      )
      SELECT tenant_id FROM turns WHERE tenant_id IS NOT NULL LIMIT ${tenantsInTurn}`

  const nextTenants = Effect.gen(function* () {
    const rows = yield* tenantsAfter(yield* Ref.get(lastTenant))
    yield* Ref.set(lastTenant, rows.length < tenantsInTurn ? "" : rows.at(-1)!.tenant_id)
    return rows.map((row) => row.tenant_id)
  })

  // Materialized, so that the locking part runs once whatever the planner makes of the joins. The strategy's row is held
  // until the due time that its cadence gives is written, so that a change of cadence comes before or after, never
  // between; what is being changed right now is left for the next look.
  const lock = (due: Fragment) =>
    allDue(sql`
      WITH due AS MATERIALIZED (${due})
      SELECT due.portfolio_id AS "portfolioId", due.due_at AS "dueAt", s.frequency
      FROM due
      JOIN portfolios p ON p.portfolio_id = due.portfolio_id
      JOIN strategies s ON s.strategy_id = p.strategy_id
      FOR SHARE OF s SKIP LOCKED`)

  const lockDue = Effect.fnUntraced(function* (now: Date, limit: number) {
    const tenantIds = (yield* Ref.get(isTenantsTurn)) ? yield* nextTenants : []
    const fair = tenantIds.length > 0 ? yield* lock(ofTenants(now, tenantIds, limit)) : []
    const waited = fair.length < limit ? yield* lock(oldest(now, limit - fair.length)) : []
    // A full batch means that more may be due than is claimed; the next one is for tenants in turn, and so on.
    yield* Ref.set(isTenantsTurn, fair.length + waited.length >= limit && tenantIds.length === 0)
    // A transaction does not skip its own locks.
    const taken = new Set(fair.map(({ portfolioId }) => portfolioId))
    return [...fair, ...waited.filter(({ portfolioId }) => !taken.has(portfolioId))]
  })

  // The look for unfinished runs spares the wait on a run that is just finishing; the index catches what it misses.
  const accept = (
    now: Date,
    operationIds: ReadonlyArray<string>,
    portfolioIds: ReadonlyArray<string>,
    dueAts: ReadonlyArray<Date>
  ) =>
    sql<{ readonly operation_id: OperationId }>`
      WITH moved AS (
        UPDATE schedules c SET due_at = next.due_at, updated_at = ${now}
        FROM unnest(${portfolioIds}::text[], ${dueAts}::timestamptz[]) AS next (portfolio_id, due_at)
        WHERE c.portfolio_id = next.portfolio_id
      ), inserted AS (
        INSERT INTO operations (operation_id, tenant_id, portfolio_id, kind, trigger, state, submitted_at, updated_at, last_sequence)
        SELECT due.operation_id, p.tenant_id, p.portfolio_id, 'rebalance', 'scheduled', 'accepted', ${now}, ${now}, 1
        FROM unnest(${operationIds}::text[], ${portfolioIds}::text[]) AS due (operation_id, portfolio_id)
        JOIN portfolios p ON p.portfolio_id = due.portfolio_id
        WHERE NOT EXISTS (
          SELECT FROM operations o
          WHERE o.portfolio_id = p.portfolio_id AND o.kind = 'rebalance' AND o.finished_at IS NULL
            AND o.state <> 'awaiting_user'
        )
        ON CONFLICT DO NOTHING RETURNING operation_id, submitted_at, trigger
      ) ${firstEvents(sql)} RETURNING operation_id`

  return Effect.fn("OperationStore.claimDue")(
    function* (now: DateTime.Utc, limit: number) {
      const due = yield* lockDue(timestamp(now), limit)
      if (due.length === 0) return []
      const portfolioIds = due.map((row) => row.portfolioId)
      const operationIds = yield* Effect.forEach(due, () => makeOperationId).pipe(
        Effect.provideService(SecureRandom.SecureRandom, random)
      )
      const dueAts = due.map((row) => timestamp(nextDueAt(row.dueAt, now, row.frequency)))
      const accepted = yield* accept(timestamp(now), operationIds, portfolioIds, dueAts)
      return accepted.map((row) => row.operation_id)
    },
    sql.withTransaction,
    Effect.orDie
  )
})

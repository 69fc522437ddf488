/**
 * Takes due portfolios for a look, by any number of processes at once: each takes rows that no other one holds or looks
 * at. They stay due.
 *
 * Those that wait longest come first. While more is due than a batch holds, every second batch goes to tenants in turn
 * instead, so that one with a million due portfolios does not keep the others waiting.
 */
import { type DateTime, Effect, Ref, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { PortfolioId } from "#domain/Ids.ts"
import { decodeRows, Timestamp, timestamp } from "#layers/sql/rows.ts"

const allDue = decodeRows(Schema.Struct({ portfolioId: PortfolioId, dueAt: Timestamp }))

/** Tenants that get their share in one batch. */
const tenantsInTurn = 32

export const makeTakeDue = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const isTenantsTurn = yield* Ref.make(false)
  /** The tenant whose turn was last. */
  const lastTenant = yield* Ref.make("")

  const isFree = (now: Date) => sql`due_at <= ${now} AND (looking_until IS NULL OR looking_until <= ${now})`

  const oldest = (now: Date, limit: number) => sql`
    SELECT portfolio_id FROM schedules
    WHERE status = 'active' AND ${isFree(now)}
    ORDER BY due_at, portfolio_id LIMIT ${limit} FOR UPDATE SKIP LOCKED`

  const ofTenants = (now: Date, tenantIds: ReadonlyArray<string>, limit: number) => sql`
    SELECT d.portfolio_id FROM unnest(${tenantIds}::text[]) AS t (tenant_id) CROSS JOIN LATERAL (
      SELECT portfolio_id FROM schedules
      WHERE status = 'active' AND tenant_id = t.tenant_id AND ${isFree(now)}
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

  // Materialized, so that the locking part runs once whatever the planner makes of the join.
  const mark = (due: Fragment, until: Date) =>
    allDue(sql`
      WITH due AS MATERIALIZED (${due})
      UPDATE schedules c SET looking_until = ${until} FROM due WHERE c.portfolio_id = due.portfolio_id
      RETURNING c.portfolio_id AS "portfolioId", c.due_at AS "dueAt"`)

  return Effect.fn("DueStore.take")(function* (at: DateTime.Utc, end: DateTime.Utc, limit: number) {
    const [now, until] = [timestamp(at), timestamp(end)]
    const tenantIds = (yield* Ref.get(isTenantsTurn)) ? yield* nextTenants : []
    const fair = tenantIds.length > 0 ? yield* mark(ofTenants(now, tenantIds, limit), until) : []
    const waited = fair.length < limit ? yield* mark(oldest(now, limit - fair.length), until) : []
    // A full batch means that more may be due than is taken; the next one is for tenants in turn, and so on.
    yield* Ref.set(isTenantsTurn, fair.length + waited.length >= limit && tenantIds.length === 0)
    return [...fair, ...waited]
  }, Effect.orDie)
})

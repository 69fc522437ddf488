/**
 * Claims due portfolios for a drift check, in any number of processes at once: each leaves out the ranges that others
 * hold. Two that claim at the same moment may get the same ones; one of them completes. They stay due.
 *
 * Those that wait longest come first. While more is due than a batch holds, every second batch goes to tenants in turn
 * instead, so that one with a million due portfolios does not keep the others waiting.
 */
import { DateTime, Effect, Ref } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { type CheckId, makeCheckId, type PortfolioId, type TenantId } from "#domain/values/Ids.ts"
import type { Due } from "#domain/rebalance/DueStore.ts"
import type { Frequency } from "#domain/mandate/RebalanceSchedule.ts"
import { timestamp } from "#layers/sql/rows.ts"

/** Trusted as its own constraints leave it: a check of each row would cost a tenth of the batch. */
interface DueRow {
  readonly portfolio_id: PortfolioId
  readonly due_at: Date
  readonly frequency: Frequency
}

const toDue = (row: DueRow): Due => ({
  portfolioId: row.portfolio_id,
  dueAt: DateTime.fromDateUnsafe(row.due_at),
  frequency: row.frequency
})

/** Tenants that get their share in one batch. */
const tenantsInTurn = 32

export const makeClaimDue = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const random = yield* SecureRandom.SecureRandom

  const isTenantsTurn = yield* Ref.make(false)
  /** The tenant whose turn was last; empty: the next turn is the first tenant's. */
  const lastTenant = yield* Ref.make<TenantId | "">("")

  const isFree = (now: Date) => sql`
    c.status = 'active' AND c.due_at <= ${now} AND NOT EXISTS (
      SELECT FROM drift_checks l
      WHERE l.until > ${now} AND (l.tenant_id IS NULL OR l.tenant_id = c.tenant_id)
        AND (c.due_at, c.portfolio_id) >= (l.first_due_at, l.first_portfolio_id)
        AND (c.due_at, c.portfolio_id) <= (l.last_due_at, l.last_portfolio_id)
    )`

  const oldest = (now: Date, limit: number) => sql`
    SELECT NULL AS tenant_id, c.portfolio_id, c.due_at, c.strategy_id, c.tenant_id AS follower FROM schedules c
    WHERE ${isFree(now)} ORDER BY c.due_at, c.portfolio_id LIMIT ${limit}`

  const ofTenants = (now: Date, tenantIds: ReadonlyArray<TenantId>, limit: number) => sql`
    SELECT t.tenant_id, d.* FROM unnest(${tenantIds}::text[]) AS t (tenant_id) CROSS JOIN LATERAL (
      SELECT c.portfolio_id, c.due_at, c.strategy_id, c.tenant_id AS follower FROM schedules c
      WHERE c.tenant_id = t.tenant_id AND ${isFree(now)}
      ORDER BY c.due_at, c.portfolio_id LIMIT ${Math.ceil(limit / tenantIds.length)}
    ) d LIMIT ${limit}`

  // Each step of the recursion is one index lookup, however many schedules a tenant has.
  const tenantsAfter = (tenantId: TenantId | "") =>
    sql<{ readonly tenant_id: TenantId }>`
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

  const claimed = (checkId: CheckId, until: Date, due: Fragment) =>
    sql<DueRow>`
      WITH due AS MATERIALIZED (${due}), ends AS (
        SELECT tenant_id, portfolio_id, due_at, count(*) OVER (PARTITION BY tenant_id) AS size,
          row_number() OVER (PARTITION BY tenant_id ORDER BY due_at, portfolio_id) AS place
        FROM due
      ), recorded AS (
        INSERT INTO drift_checks
          (check_id, tenant_id, first_due_at, first_portfolio_id, last_due_at, last_portfolio_id, until)
        SELECT ${checkId}, tenant_id, min(due_at), min(portfolio_id) FILTER (WHERE place = 1),
          max(due_at), max(portfolio_id) FILTER (WHERE place = size), ${until}::timestamptz
        FROM ends GROUP BY tenant_id
      )
      SELECT due.portfolio_id, due.due_at, slower_frequency(s.frequency, m.frequency) AS frequency
      FROM due JOIN strategies s ON s.strategy_id = due.strategy_id
      LEFT JOIN mirror_terms m ON m.strategy_id = due.strategy_id AND m.tenant_id = due.follower`

  return Effect.fn("DueStore.claim")(function* (at: DateTime.Utc, end: DateTime.Utc, limit: number) {
    const [now, until] = [timestamp(at), timestamp(end)]
    const checkId = yield* Effect.provideService(makeCheckId, SecureRandom.SecureRandom, random)
    const tenantIds = (yield* Ref.get(isTenantsTurn)) ? yield* nextTenants : []
    const fair = tenantIds.length > 0 ? yield* claimed(checkId, until, ofTenants(now, tenantIds, limit)) : []
    const waited = fair.length < limit ? yield* claimed(checkId, until, oldest(now, limit - fair.length)) : []
    // A full batch means that more may be due than is taken; the next one is for tenants in turn, and so on.
    yield* Ref.set(isTenantsTurn, fair.length + waited.length >= limit && tenantIds.length === 0)
    return { checkId, due: [...fair, ...waited].map(toDue) }
  }, Effect.orDie)
})

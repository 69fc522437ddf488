/**
 * A tenant with a thousand portfolios and a million operations, written by the database itself; a tenth are of one
 * portfolio.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { PortfolioId, TenantId } from "#domain/values/Ids.ts"

export const operationCount = 1_000_000
const portfolioCount = 1_000
/** Rows of one statement. */
const chunk = 100_000

export const tenantId = "tn_01JQ8ZKX4V6T3M9N2C5B7D8F0G" as TenantId
const strategyId = "01JQ8Z00000000000000000001"
const portfolioIdOf = (n: string) => `('pf_01JQ8Z' || lpad((${n})::text, 20, '0'))`

/** That of every tenth operation. */
export const portfolioId = `pf_01JQ8Z${"1".padStart(20, "0")}` as PortfolioId

export const fillOperations = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO tenants (tenant_id, name, email, entitlements, created_at)
    VALUES (${tenantId}, 'Northwind', 'ops@northwind.example', '{}', '2025-01-01T00:00:00Z')`
  yield* sql`
    INSERT INTO strategies (strategy_id, tenant_id, name, frequency, is_public, can_mirror, head_version, created_at)
    VALUES (${strategyId}, ${tenantId}, 'Blue chips', 'daily', false, false, 1, '2025-01-01T00:00:00Z')`
  yield* sql.unsafe(
    `INSERT INTO portfolios (portfolio_id, tenant_id, strategy_id, owner_account_id, account_index, account_ids,
       strategy_version, created_at, updated_at)
     SELECT ${portfolioIdOf("n")}, $1, $2, 'eip155:0:0x' || lpad(to_hex(n), 40, '0'), 0, '{}', 1,
       '2025-01-01T00:00:00Z', '2025-01-01T00:00:00Z'
     FROM generate_series(1, ${portfolioCount}) n`,
    [tenantId, strategyId]
  )
  // Two a second, so that pages have to order equal times; what is not finished would have to be one a portfolio.
  for (let from = 1; from <= operationCount; from += chunk)
    yield* sql.unsafe(
      `INSERT INTO operations (operation_id, tenant_id, portfolio_id, kind, trigger, state, submitted_at, updated_at,
         finished_at, error, outcome, reason, last_sequence)
       SELECT 'op_01JQ8Z' || lpad(n::text, 20, '0'), $1,
         ${portfolioIdOf(`CASE WHEN n % 10 = 0 THEN 1 ELSE 1 + n % ${portfolioCount} END`)},
         CASE WHEN n % 10 = 1 THEN 'withdraw' ELSE 'rebalance' END, 'scheduled',
         CASE WHEN n % 10 = 2 THEN 'failed' ELSE 'completed' END, at, at, at,
         CASE WHEN n % 10 = 2 THEN 'the chain said no' END, 'nothing_to_do', 'Every asset is on its target', 3
       FROM (SELECT n, timestamptz '2025-01-01T00:00:00Z' + make_interval(secs => floor(n / 2)) AS at
         FROM generate_series($2::int, $3::int) n) numbered`,
      [tenantId, from, from + chunk - 1]
    )
  yield* sql`VACUUM (ANALYZE)`
})

/**
 * A tenant with a million strategies and a million portfolios, written by the database itself: through the stores it
 * would take an hour. Ids have the form of real ones and sort by number, as ids that grow with time do.
 *
 * Every tenth portfolio belongs to one owner, every tenth follows one strategy and every tenth has one pair of
 * metadata, so that the filtered lists are deep;
 * half are paused. Every tenth strategy is public, one strategy has many versions.
 */
import { Console, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type WalletId, evmWallet, type EvmAddress } from "#domain/values/Caip.ts"
import * as Eip55 from "#domain/values/Eip55.ts"
import type { StrategyId, TenantId } from "#domain/values/Ids.ts"

export const rowCount = 1_000_000
export const publicCount = rowCount / 10
export const versionCount = 100_000
/** Rows of one statement, so that progress can be reported. */
const chunk = 100_000

export const tenantId = "tn_01JQ8ZKX4V6T3M9N2C5B7D8F0G" as TenantId
const owner = Eip55.checksum(`0x${"a1".repeat(20)}`) as EvmAddress

/** The owner of every tenth portfolio. */
export const bigOwner: WalletId = evmWallet(owner)
/** Followed by every tenth portfolio, and the one that has many versions. */
export const bigStrategy = "01JQ8Z00000000000000000001" as StrategyId

const strategyIdOf = (n: string) => `('01JQ8Z' || lpad((${n})::text, 20, '0'))`
const ownerIdOf = (n: string) => `('eip155:0:0x' || lpad(to_hex(${n}), 40, '0'))`

/** Two rows a second, so that pages have to order rows of equal times. */
const createdAt = `timestamptz '2025-01-01T00:00:00Z' + make_interval(secs => floor(n / 2))`

const allocation = JSON.stringify(
  [
    "eip155:8453/erc20:0x4200000000000000000000000000000000000006",
    "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    "eip155:42161/erc20:0x82aF49447D8a07e3bd95BD0d56f35241523fBab1",
    "eip155:42161/erc20:0xaf88d065e77c8cC2239327C5EDb3A432268e5831"
  ].map((assetId) => ({ assetId, weight: 2_500 }))
)

/** A tenth of all portfolios follow one strategy. */
const followedOf = (n: string) => `CASE WHEN ${n} % 10 = 1 THEN '${bigStrategy}' ELSE ${strategyIdOf(n)} END`

/** Each is a statement over `n` from `$1` to `$2`. */
const tables: ReadonlyArray<readonly [name: string, count: number, statement: string]> = [
  [
    "strategies",
    rowCount,
    `INSERT INTO strategies (strategy_id, tenant_id, name, description, frequency, is_public, can_mirror, head_version,
       created_at)
     SELECT ${strategyIdOf("n")}, '${tenantId}', 'Strategy ' || n, 'Half ether, half dollars, on two chains.', 'daily',
       n % 10 = 0, true, CASE WHEN n = 1 THEN ${versionCount} ELSE 1 END, ${createdAt}
     FROM generate_series($1::int, $2::int) n`
  ],
  [
    "head versions",
    rowCount,
    `INSERT INTO strategy_versions (strategy_id, version, allocation, created_at)
     SELECT ${strategyIdOf("n")}, 1, '${allocation}', ${createdAt} FROM generate_series($1::int, $2::int) n`
  ],
  [
    "versions of one strategy",
    versionCount,
    `INSERT INTO strategy_versions (strategy_id, version, allocation, change_log, created_at)
     SELECT '${bigStrategy}', n, '${allocation}', 'Version ' || n, ${createdAt}
     FROM generate_series($1::int, $2::int) n WHERE n > 1`
  ],
  [
    "portfolios",
    rowCount,
    `INSERT INTO portfolios (portfolio_id, tenant_id, strategy_id, owner_account_id, name, account_index, account_ids,
       strategy_version, metadata, created_at, updated_at)
     SELECT 'pf_01JQ8Z' || lpad(n::text, 20, '0'), '${tenantId}',
       ${followedOf("n")},
       CASE WHEN n % 10 = 0 THEN '${bigOwner}' ELSE ${ownerIdOf("n")} END, 'Savings ' || n, 0,
       ARRAY['eip155:8453:0x' || lpad(to_hex(n), 40, '0'), 'eip155:42161:0x' || lpad(to_hex(n), 40, '0')],
       1, CASE WHEN n % 10 = 2 THEN '{"plan": "gold"}'::jsonb ELSE '{}' END, ${createdAt}, ${createdAt}
     FROM generate_series($1::int, $2::int) n`
  ],
  [
    "schedules",
    rowCount,
    `INSERT INTO schedules (portfolio_id, tenant_id, strategy_id, status, due_at, portfolio_created_at, updated_at)
     SELECT 'pf_01JQ8Z' || lpad(n::text, 20, '0'), '${tenantId}', ${followedOf("n")}, CASE WHEN n % 4 < 2 THEN 'active'
     ELSE 'paused' END, ${createdAt}, ${createdAt}, ${createdAt}
     FROM generate_series($1::int, $2::int) n`
  ]
]

/** A week of valuations of every portfolio that follows a public strategy. */
const valuations = `
  INSERT INTO portfolio_valuations (portfolio_id, day, value_usd, cash_flow_usd, valued_at)
  SELECT 'pf_01JQ8Z' || lpad(n::text, 20, '0'), date '2026-03-01' + day, 1000 + n % 5000, n % 21 - 10,
    timestamptz '2026-03-01T12:00:00Z' + make_interval(days => day)
  FROM generate_series(10, ${rowCount}, 10) n, generate_series(0, 6) day`

/** Values that are all different, and unknown for every hundredth strategy. */
const metrics = `
  UPDATE discovery_entries e
  SET tvl_usd = CASE WHEN h.hash % 100 > 0 THEN h.hash / 1000.0 END, inflows_7d_usd = (h.hash - 1000000000) / 100.0,
    users = h.hash % 5000, portfolio_count = h.hash % 7000,
    windows = '[{"window": "1d", "percentChange": "0.120000000000000000", "since": "2026-03-01"},
      {"window": "1w", "percentChange": "-1.500000000000000000", "since": "2026-02-23"}]'
  FROM (SELECT strategy_id, abs(hashtext(strategy_id)) AS hash FROM discovery_entries) h
  WHERE h.strategy_id = e.strategy_id`

export const fill = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO tenants (tenant_id, name, email, entitlements, created_at)
    VALUES (${tenantId}, 'Northwind', 'ops@northwind.example', '{}', '2025-01-01T00:00:00Z')`
  for (const [name, count, statement] of tables) {
    for (let from = 1; from <= count; from += chunk) {
      yield* sql.unsafe(statement, [from, Math.min(count, from + chunk - 1)])
      yield* Console.log(`  ${name}: ${Math.min(count, from + chunk - 1).toLocaleString("en-US")}`)
    }
  }
  yield* Console.log("  a week of valuations")
  yield* sql.unsafe(valuations)
  yield* sql.unsafe(metrics)
  yield* sql`
    INSERT INTO curated_strategies (position, strategy_id)
    SELECT row_number() OVER (ORDER BY strategy_id), strategy_id FROM discovery_entries LIMIT 500`
  yield* Console.log("  vacuum and statistics")
  yield* sql`VACUUM (ANALYZE)`
})

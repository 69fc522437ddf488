/**
 * Workflows that wait for prices, written by the database itself: for each asset as many levels above its first price,
 * a cent and a bit apart, spread over portfolios that are paused, so that what wakes starts no run.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type AssetId, type ChainId, erc20, type EvmAddress } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import * as Eip55 from "#domain/values/Eip55.ts"

const assetCount = 100
const levelsOfAnAsset = 1_000
const portfolios = 1_000
export const monitorCount = assetCount * levelsOfAnAsset

export const firstPrice = 100n * Decimal.one
/** Distance between two levels of an asset. */
const levelStep = Decimal.one / 20n

export const assetIds: ReadonlyArray<AssetId> = Array.from({ length: assetCount }, (_, n) =>
  erc20(8453 as ChainId, Eip55.checksum(`0x${n.toString(16).padStart(40, "0")}`) as EvmAddress)
)

const tenantId = "tn_01JQ8ZKX4V6T3M9N2C5B7D8F0G"
const strategyId = "01JQ8Z00000000000000000001"
const past = "timestamptz '2026-01-01T00:00:00Z'"
const portfolioIdOf = (n: string) => `('pf_01JQ8Z' || lpad((${n})::text, 20, '0'))`

export const workflowIdOf = (asset: number, level: number): string =>
  `wf_01JQ8Z${`${asset * levelsOfAnAsset + level}`.padStart(20, "0")}`

/** The level at a position, 0 for the lowest. */
export const levelAt = (position: number): bigint => firstPrice + BigInt(position + 1) * levelStep

/** How many levels of an asset are reached at a price. */
export const levelsReached = (price: bigint): number =>
  Math.min(levelsOfAnAsset, Number((price - firstPrice) / levelStep))

export const fillMonitors = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(
    `INSERT INTO tenants (tenant_id, name, email, entitlements, created_at)
     VALUES ($1, 'Northwind', 'ops@northwind.example', '{}', ${past})`,
    [tenantId]
  )
  yield* sql.unsafe(
    `INSERT INTO strategies (strategy_id, tenant_id, name, frequency, is_public, head_version, created_at)
     VALUES ($1, $2, 'Blue chips', 'daily', false, 1, ${past})`,
    [strategyId, tenantId]
  )
  yield* sql.unsafe(
    `INSERT INTO portfolios (portfolio_id, tenant_id, strategy_id, owner_account_id, account_index, account_ids,
       strategy_version, created_at, updated_at)
     SELECT ${portfolioIdOf("n")}, $1, $2, 'eip155:0:0x' || lpad(to_hex(n), 40, '0'), 0, '{}', 1, ${past}, ${past}
     FROM generate_series(0, ${portfolios - 1}) n`,
    [tenantId, strategyId]
  )
  for (const [asset, assetId] of assetIds.entries()) {
    const rows = Array.from({ length: levelsOfAnAsset }, (_, position) => ({
      workflow_id: workflowIdOf(asset, position),
      level: Decimal.format(levelAt(position), 18)
    }))
    yield* sql.unsafe(
      `INSERT INTO workflow_monitors (workflow_id, tenant_id, portfolio_id, title, kind, trigger, is_repeated,
         is_of_strategy, workflow_status, status, wait, next_check_at, is_armed, linked_operation_ids, failures,
         revision, created_at)
       SELECT n.workflow_id, $1, ${portfolioIdOf(`n.position % ${portfolios}`)}, 'Level ' || n.level, 'triggered',
         jsonb_build_object('kind', 'market_price', 'assetId', $2::text, 'comparison', 'above', 'threshold', n.level,
           'hysteresis', '1'), true, false, 'active', 'waiting', 'trigger', timestamptz '2100-01-01T00:00:00Z', true,
           '{}', 0, 1, ${past}
       FROM (SELECT r.workflow_id, r.level, row_number() OVER () AS position
         FROM jsonb_to_recordset($3::jsonb) AS r (workflow_id text, level text)) n`,
      [tenantId, assetId, JSON.stringify(rows)]
    )
    yield* sql.unsafe(
      `INSERT INTO monitor_watches (workflow_id, asset_id, low, high)
       SELECT r.workflow_id, $1, NULL, r.level::numeric
       FROM jsonb_to_recordset($2::jsonb) AS r (workflow_id text, level text)`,
      [assetId, JSON.stringify(rows)]
    )
  }
  yield* sql`VACUUM (ANALYZE)`
})

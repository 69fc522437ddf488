/**
 * What tenants configure: their defaults, their fees, and whom a public strategy may be mirrored by.
 *
 * Null means that nothing is configured. `max_apy` is a percentage a year. Portfolios that follow a strategy belong to
 * many tenants, so a change of its schedule finds them by the strategy alone.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    ALTER TABLE tenants
      ADD COLUMN slippage_bps integer,
      ADD COLUMN price_impact_bps integer,
      ADD COLUMN threshold_usd numeric(48, 18),
      ADD COLUMN frequency text CHECK (frequency IN ('hourly', 'daily', 'weekly', 'monthly')),
      ADD COLUMN swap_fee_bps integer CHECK (swap_fee_bps BETWEEN 0 AND 300)`
  yield* sql`
    ALTER TABLE strategies
      ADD COLUMN swap_fee_bps integer CHECK (swap_fee_bps BETWEEN 0 AND 300),
      ADD COLUMN can_mirror boolean NOT NULL DEFAULT true,
      ADD COLUMN max_apy numeric`
  yield* sql`CREATE INDEX portfolios_following ON portfolios (strategy_id) WHERE archived_at IS NULL`
})

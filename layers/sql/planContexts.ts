/** How stores read what a plan is made for: the parts of a query over portfolios (`p`), and the domain value of its rows. */
import { Schema } from "effect"
import { AssetId, ChainId } from "#domain/Caip.ts"
import { Grant } from "#domain/enrollment/Grant.ts"
import { PortfolioId, TenantId } from "#domain/Ids.ts"
import type { PlanContext } from "#domain/rebalance/RunStore.ts"
import { AllocationColumn, swapPreferencesOf, SwapPreferencesColumns } from "#layers/sql/allocationColumns.ts"

/** Fields of a row that carries a context. */
export const ContextColumns = {
  tenantId: TenantId,
  portfolioId: PortfolioId,
  strategyVersion: Schema.Int,
  allocation: AllocationColumn,
  ...SwapPreferencesColumns,
  tenantSlippageBps: SwapPreferencesColumns.slippageBps,
  tenantPriceImpactBps: SwapPreferencesColumns.priceImpactBps,
  tenantThresholdUsd: SwapPreferencesColumns.thresholdUsd,
  grants: Schema.Array(Grant),
  reserved: Schema.Array(Schema.Struct({ assetId: AssetId, raw: Schema.BigIntFromString })),
  awaited: Schema.Array(ChainId)
}

const ContextRow = Schema.Struct(ContextColumns)

/** What a query selects to read them. */
export const selectContext = `
  p.tenant_id AS "tenantId", p.portfolio_id AS "portfolioId", v.version AS "strategyVersion", v.allocation,
  s.slippage_bps AS "slippageBps", s.price_impact_bps AS "priceImpactBps", s.threshold_usd AS "thresholdUsd",
  t.slippage_bps AS "tenantSlippageBps", t.price_impact_bps AS "tenantPriceImpactBps",
  t.threshold_usd AS "tenantThresholdUsd",
  (SELECT coalesce(jsonb_agg(jsonb_build_object('authorization', g.authorization_document,
    'ownerSignature', g.owner_signature) ORDER BY g.sequence), '[]'::jsonb)
    FROM grants g WHERE g.portfolio_id = p.portfolio_id) AS grants,
  (SELECT coalesce(jsonb_agg(jsonb_build_object('assetId', a ->> 'assetId', 'raw', a ->> 'amountRaw')), '[]'::jsonb)
    FROM withdrawals w
    JOIN operations x ON x.operation_id = w.operation_id AND x.finished_at IS NULL
    CROSS JOIN jsonb_array_elements(w.message -> 'assets') a
    WHERE w.portfolio_id = p.portfolio_id) AS reserved,
  (SELECT coalesce(jsonb_agg(a.chain_id), '[]'::jsonb) FROM awaited_signatures a
    WHERE a.portfolio_id = p.portfolio_id) AS awaited`

/** What it joins to its portfolios. */
export const joinContext = `
  JOIN strategies s ON s.strategy_id = p.strategy_id
  JOIN strategy_versions v ON v.strategy_id = s.strategy_id AND v.version = s.head_version
  JOIN tenants t ON t.tenant_id = p.tenant_id`

export const toContext = (row: typeof ContextRow.Type): PlanContext => ({
  tenantId: row.tenantId,
  portfolioId: row.portfolioId,
  strategyVersion: row.strategyVersion,
  allocation: row.allocation,
  swap: swapPreferencesOf(row),
  tenantSwap: {
    slippageBps: row.tenantSlippageBps,
    priceImpactBps: row.tenantPriceImpactBps,
    thresholdUsd: row.tenantThresholdUsd
  },
  grants: row.grants,
  reserved: row.reserved,
  awaited: row.awaited
})

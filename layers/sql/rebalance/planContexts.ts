/**
 * How stores read what a plan is made for: the parts of a query over portfolios (`p`), and the domain value of its
 * rows.
 */
import { Schema } from "effect"
import { AssetId, ChainId } from "#domain/values/Caip.ts"
import { Grant } from "#domain/account/Grant.ts"
import { PortfolioId, TenantId } from "#domain/values/Ids.ts"
import { ClosedRoute } from "#domain/rebalance/ClosedRoute.ts"
import { Frequency } from "#domain/mandate/RebalanceSchedule.ts"
import type { PlanContext } from "#domain/rebalance/RunStore.ts"
import {
  AllocationColumn,
  joinSwapSources,
  selectSwapSources,
  swapSourcesOf,
  SwapSourcesColumns
} from "#layers/sql/allocationColumns.ts"
import { PolicyColumn, policyOf } from "#layers/sql/policyColumn.ts"

/** Fields of a row that contains a context. */
export const ContextColumns = {
  tenantId: TenantId,
  portfolioId: PortfolioId,
  strategyVersion: Schema.Int,
  allocation: AllocationColumn,
  ...SwapSourcesColumns,
  rebalancePolicy: PolicyColumn,
  tenantPolicy: PolicyColumn,
  frequency: Frequency,
  grants: Schema.Array(Grant),
  reserved: Schema.Array(Schema.Struct({ assetId: AssetId, raw: Schema.BigIntFromString })),
  awaited: Schema.Array(ChainId),
  closedRoutes: Schema.Array(ClosedRoute)
}

const ContextRow = Schema.Struct(ContextColumns)

/** What a query selects to read them. */
export const selectContext = `
  p.tenant_id AS "tenantId", p.portfolio_id AS "portfolioId", v.version AS "strategyVersion", v.allocation,
  ${selectSwapSources}, s.rebalance_policy AS "rebalancePolicy", t.rebalance_policy AS "tenantPolicy",
  slower_frequency(s.frequency, m.frequency) AS frequency,
  (SELECT coalesce(jsonb_agg(jsonb_build_object('authorization', g.authorization_document,
    'ownerSignature', g.owner_signature) ORDER BY g.sequence), '[]'::jsonb)
    FROM grants g WHERE g.portfolio_id = p.portfolio_id) AS grants,
  (SELECT coalesce(jsonb_agg(jsonb_build_object('assetId', r.asset_id, 'raw', r.raw)), '[]'::jsonb) FROM (
    SELECT a ->> 'assetId' AS asset_id, a ->> 'amountRaw' AS raw
    FROM withdrawals w
    JOIN operations x ON x.operation_id = w.operation_id AND x.finished_at IS NULL
    CROSS JOIN jsonb_array_elements(w.message -> 'assets') a
    WHERE w.portfolio_id = p.portfolio_id
    UNION ALL
    SELECT n.order_document ->> 'sell', n.order_document ->> 'amountRaw'
    FROM operations x JOIN orders n ON n.operation_id = x.operation_id
    WHERE x.portfolio_id = p.portfolio_id AND x.finished_at IS NULL AND n.order_document ? 'sell'
  ) r) AS reserved,
  (SELECT coalesce(jsonb_agg(a.chain_id), '[]'::jsonb) FROM awaited_signatures a
    WHERE a.portfolio_id = p.portfolio_id) AS awaited,
  p.closed_routes AS "closedRoutes"`

/** What it joins to its portfolios. */
export const joinContext = `
  ${joinSwapSources}
  JOIN strategy_versions v ON v.strategy_id = s.strategy_id AND v.version = s.head_version`

export const toContext = (row: typeof ContextRow.Type): PlanContext => {
  const { accepted, strategy, tenant } = swapSourcesOf(row)
  return {
    tenantId: row.tenantId,
    portfolioId: row.portfolioId,
    strategyVersion: row.strategyVersion,
    allocation: row.allocation,
    swap: strategy,
    tenantSwap: tenant,
    ...(accepted === null ? {} : { acceptedSwap: accepted }),
    ...policyOf(row),
    ...(row.tenantPolicy === null ? {} : { tenantPolicy: row.tenantPolicy }),
    // Only a policy needs it.
    ...(row.rebalancePolicy === null && row.tenantPolicy === null ? {} : { frequency: row.frequency }),
    grants: row.grants,
    reserved: row.reserved,
    awaited: row.awaited,
    closedRoutes: row.closedRoutes
  }
}

/** How withdrawals and the portfolios that they are taken from are read. */
import { Schema } from "effect"
import { chainIdOf, EvmAccountId, EvmWalletId } from "#domain/Caip.ts"
import { Grant, grantOn } from "#domain/enrollment/Grant.ts"
import { PortfolioId, TenantId } from "#domain/Ids.ts"
import type { SwapPreferences } from "#domain/strategy/Strategy.ts"
import { WithdrawalMessage } from "#domain/withdrawal/WithdrawalMessage.ts"
import type { WithdrawalSource } from "#domain/withdrawal/WithdrawalSource.ts"
import type { StoredWithdrawal } from "#domain/withdrawal/WithdrawalStore.ts"
import { SwapPreferencesColumns, swapPreferencesOf, Wad } from "#layers/sql/allocationColumns.ts"
import { Numeric } from "#layers/sql/rows.ts"

/** Columns of a portfolio `p` with its strategy `s` and its tenant `t`. */
export const sourceColumns = `
  p.tenant_id AS "tenantId", p.portfolio_id AS "portfolioId", p.owner_account_id AS "ownerAccountId",
  s.slippage_bps AS "slippageBps", s.price_impact_bps AS "priceImpactBps", s.threshold_usd AS "thresholdUsd",
  t.slippage_bps AS "tenantSlippageBps", t.price_impact_bps AS "tenantPriceImpactBps",
  t.threshold_usd AS "tenantThresholdUsd",
  (SELECT coalesce(jsonb_agg(jsonb_build_object('authorization', g.authorization_document,
    'ownerSignature', g.owner_signature) ORDER BY g.sequence), '[]'::jsonb)
    FROM grants g WHERE g.portfolio_id = p.portfolio_id) AS grants`

/** What `p`, `s` and `t` are. */
export const sourceTables = `
  portfolios p JOIN strategies s ON s.strategy_id = p.strategy_id JOIN tenants t ON t.tenant_id = p.tenant_id`

const source = {
  tenantId: TenantId,
  portfolioId: PortfolioId,
  ownerAccountId: EvmWalletId,
  ...SwapPreferencesColumns,
  tenantSlippageBps: Schema.NullOr(Schema.Int),
  tenantPriceImpactBps: Schema.NullOr(Schema.Int),
  tenantThresholdUsd: Schema.NullOr(Wad),
  grants: Schema.Array(Grant)
}

export const SourceRow = Schema.Struct(source)
export const WithdrawalRow = Schema.Struct({
  ...source,
  accountId: EvmAccountId,
  message: WithdrawalMessage,
  signature: Schema.String,
  acceptedAtBlock: Numeric
})

const swapOf = (row: typeof SourceRow.Type): ReadonlyArray<SwapPreferences> => [
  swapPreferencesOf(row),
  {
    slippageBps: row.tenantSlippageBps,
    priceImpactBps: row.tenantPriceImpactBps,
    thresholdUsd: row.tenantThresholdUsd
  }
]

export const toSource = (row: typeof SourceRow.Type): WithdrawalSource => ({
  tenantId: row.tenantId,
  portfolioId: row.portfolioId,
  ownerAccountId: row.ownerAccountId,
  grants: row.grants,
  swap: swapOf(row)
})

export const toWithdrawal = (row: typeof WithdrawalRow.Type): StoredWithdrawal => {
  const grant = grantOn(row.grants, chainIdOf(row.accountId))
  if (grant === undefined) throw new Error(`${row.accountId} was withdrawn from, and no grant of its owner names it`)
  const { accountId, acceptedAtBlock, message, signature } = row
  return { message, signature, accountId, acceptedAtBlock, grant, swap: swapOf(row) }
}

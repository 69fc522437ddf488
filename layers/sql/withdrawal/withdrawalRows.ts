/** How withdrawals and the portfolios that they are taken from are read. */
import { Schema } from "effect"
import { chainIdOf, AccountId, WalletId } from "#domain/values/Caip.ts"
import { Grant, grantOn } from "#domain/account/Grant.ts"
import { PortfolioId, TenantId } from "#domain/values/Ids.ts"
import { WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"
import type { WithdrawalSource } from "#domain/withdrawal/WithdrawalSource.ts"
import type { StoredWithdrawal } from "#domain/withdrawal/WithdrawalStore.ts"
import { joinSwapSources, selectSwapSources, swapSourcesOf, SwapSourcesColumns } from "#layers/sql/allocationColumns.ts"
import { Numeric } from "#layers/sql/rows.ts"

/** Columns of a portfolio `p` with its strategy `s`, its tenant `t` and that tenant's terms `m`. */
export const sourceColumns = `
  p.tenant_id AS "tenantId", p.portfolio_id AS "portfolioId", p.owner_account_id AS "ownerAccountId",
  ${selectSwapSources},
  (SELECT coalesce(jsonb_agg(jsonb_build_object('authorization', g.authorization_document,
    'ownerSignature', g.owner_signature) ORDER BY g.sequence), '[]'::jsonb)
    FROM grants g WHERE g.portfolio_id = p.portfolio_id) AS grants`

/** What `p`, `s`, `t` and `m` are. */
export const sourceTables = `portfolios p ${joinSwapSources}`

const source = {
  tenantId: TenantId,
  portfolioId: PortfolioId,
  ownerAccountId: WalletId,
  ...SwapSourcesColumns,
  grants: Schema.Array(Grant)
}

export const SourceRow = Schema.Struct(source)
export const WithdrawalRow = Schema.Struct({
  ...source,
  accountId: AccountId,
  message: WithdrawalMessage,
  signature: Schema.String,
  acceptedAtBlock: Numeric
})

export const toSource = (row: typeof SourceRow.Type): WithdrawalSource => ({
  tenantId: row.tenantId,
  portfolioId: row.portfolioId,
  ownerAccountId: row.ownerAccountId,
  grants: row.grants,
  swap: swapSourcesOf(row)
})

export const toWithdrawal = (row: typeof WithdrawalRow.Type): StoredWithdrawal => {
  const grant = grantOn(row.grants, chainIdOf(row.accountId))
  if (grant === undefined) throw new Error(`${row.accountId} was withdrawn from, and no grant of its owner names it`)
  const { accountId, acceptedAtBlock, message, signature } = row
  return { message, signature, accountId, acceptedAtBlock, grant, swap: swapSourcesOf(row) }
}

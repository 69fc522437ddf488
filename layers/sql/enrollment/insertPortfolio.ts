/** Writes a new portfolio with its accounts and its schedule; part of the caller's transaction. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { NewPortfolio } from "#domain/enrollment/EnrollmentStore.ts"
import { newLabels, portfolios } from "#layers/sql/labelColumns.ts"
import { timestamp } from "#layers/sql/rows.ts"

export const insertPortfolio = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  portfolio: NewPortfolio,
  authorizationJson: string
) {
  const { portfolioId } = portfolio
  const { authorization, strategyId, tenantId } = portfolio.flow
  const accountIds = authorization.chains.map((chain) => chain.accountId)
  const labels = yield* newLabels(sql, portfolios, { ...portfolio, tenantId, own: portfolioId })
  const [{ policy }] = authorization.chains
  const createdAt = timestamp(portfolio.createdAt)
  yield* sql`
    INSERT INTO portfolios (portfolio_id, tenant_id, strategy_id, owner_account_id, name, account_index, account_ids,
      strategy_version, external_id, metadata, wallet_role_id, created_at, updated_at)
    SELECT ${portfolioId}, ${tenantId}, strategy_id, ${authorization.ownerAccountId}, ${portfolio.name},
      ${authorization.accountIndex.toString()}::numeric, ${accountIds}::text[], head_version, ${labels.external_id},
      ${labels.metadata}::jsonb, ${policy._tag === "Solana" ? policy.roleId : null}::integer, ${createdAt}, ${createdAt}
    FROM strategies WHERE strategy_id = ${strategyId}`
  // Of another tenant's strategy its terms are accepted by the first enrollment; later ones do not accept new ones.
  yield* sql`
    INSERT INTO mirror_terms
      (tenant_id, strategy_id, frequency, slippage_bps, price_impact_bps, threshold_usd, accepted_at)
    SELECT ${tenantId}, strategy_id, frequency, slippage_bps, price_impact_bps, threshold_usd, ${createdAt}
    FROM strategies WHERE strategy_id = ${strategyId} AND tenant_id <> ${tenantId}
    ON CONFLICT DO NOTHING`
  yield* sql`
    INSERT INTO grants (portfolio_id, sequence, authorization_document, owner_signature, granted_at)
    VALUES (${portfolioId}, 1, ${authorizationJson}::jsonb, ${portfolio.ownerSignature}, ${createdAt})`
  yield* sql`
    INSERT INTO smart_accounts (account_id, portfolio_id)
    SELECT account_id, ${portfolioId} FROM unnest(${accountIds}::text[]) AS account_id`
  yield* sql`
    INSERT INTO schedules (portfolio_id, tenant_id, strategy_id, status, due_at, portfolio_created_at, updated_at)
    VALUES (${portfolioId}, ${tenantId}, ${strategyId}, 'active', ${timestamp(portfolio.dueAt)}, ${createdAt},
      ${createdAt})`
})

/**
 * Adds a grant, and the smart accounts that it names first, to a portfolio; part of the caller's transaction, which a
 * failure rolls back.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { chainIdOf, type AccountId } from "#domain/values/Caip.ts"
import type { ActivationRefusal, NewGrant } from "#domain/enrollment/EnrollmentStore.ts"
import { type PortfolioRow, selectPortfolios, toPortfolio } from "#layers/sql/portfolio/portfolioRows.ts"
import { timestamp } from "#layers/sql/rows.ts"

const refuse = (refusal: ActivationRefusal) => Effect.fail(refusal)

/** The portfolio as it is then. Two activations of one portfolio pass here one after the other. */
export const insertGrant = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { flow, grantedAt, ownerSignature, portfolioId }: NewGrant,
  authorizationJson: string
) {
  const accountIds = flow.authorization.chains.map(({ accountId }) => accountId)
  const at = timestamp(grantedAt)
  const [portfolio] = yield* sql<{ readonly accountIds: ReadonlyArray<AccountId>; readonly isRevoked: boolean }>`
    SELECT account_ids AS "accountIds", coalesce(revoked_at >= ${timestamp(flow.createdAt)}, false) AS "isRevoked"
    FROM portfolios
    WHERE portfolio_id = ${portfolioId} AND tenant_id = ${flow.tenantId} AND archived_at IS NULL FOR NO KEY UPDATE`
  if (portfolio === undefined) return yield* refuse({ _tag: "PortfolioGone" })
  // What was signed for before a revocation is void with it.
  if (portfolio.isRevoked) return yield* refuse({ _tag: "Revoked" })
  const isRenewal = flow.purpose._tag === "Renew"
  const added = accountIds.filter((accountId) => !portfolio.accountIds.includes(accountId))
  const awaited = yield* sql<{ readonly chainId: bigint }>`
    SELECT chain_id AS "chainId" FROM awaited_signatures WHERE portfolio_id = ${portfolioId}`
  const isAwaited = (accountId: AccountId) => awaited.some(({ chainId }) => chainId === BigInt(chainIdOf(accountId)))
  if (!isRenewal && !accountIds.every((accountId) => added.includes(accountId) || isAwaited(accountId)))
    return yield* refuse({ _tag: "ChainActive" })
  yield* sql`
    INSERT INTO grants (portfolio_id, sequence, authorization_document, owner_signature, granted_at)
    SELECT ${portfolioId}, max(sequence) + 1, ${authorizationJson}::jsonb, ${ownerSignature}, ${at}
    FROM grants WHERE portfolio_id = ${portfolioId}`
  yield* sql`
    INSERT INTO smart_accounts (account_id, portfolio_id)
    SELECT account_id, ${portfolioId} FROM unnest(${added}::text[]) AS account_id`
  yield* sql`
    UPDATE portfolios SET account_ids = account_ids || ${added}::text[], updated_at = ${at},
      revoked_at = CASE WHEN NOT ${isRenewal}::boolean THEN revoked_at END
    WHERE portfolio_id = ${portfolioId}`
  const rows = yield* sql.unsafe<PortfolioRow>(`${selectPortfolios} WHERE p.portfolio_id = $1`, [portfolioId])
  return toPortfolio(rows[0]!)
})

/** Which portfolios a person with a session may see, in PostgreSQL. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { PageRequest } from "#domain/values/Cursor.ts"
import { type PortfolioId, TenantId } from "#domain/values/Ids.ts"
import { OwnerAction } from "#domain/mandate/OwnerAction.ts"
import { type Person, PortfolioAccessStore, type SeenFilter } from "#domain/portfolio/PortfolioAccessStore.ts"
import { type PortfolioRow, selectPortfolios, toPortfolio } from "#layers/sql/portfolio/portfolioRows.ts"
import { portfoliosOf } from "#layers/sql/portfoliosOf.ts"
import { decodeFirst, timestamp } from "#layers/sql/rows.ts"

const firstSeen = decodeFirst(
  Schema.Struct({ tenantId: TenantId, isOwned: Schema.Boolean, ownerActions: Schema.Array(OwnerAction) })
)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const select = sql.literal(selectPortfolios)

  const find = Effect.fn("PortfolioAccessStore.find")(({ tenantId, walletId }: Person, portfolioId: PortfolioId) =>
    firstSeen(sql`
      SELECT * FROM (
        SELECT p.tenant_id AS "tenantId", coalesce(t.owner_actions, '[]') AS "ownerActions",
          p.portfolio_id IN (${portfoliosOf(sql, walletId)}) AS "isOwned"
        FROM portfolios p JOIN tenants t USING (tenant_id) WHERE p.portfolio_id = ${portfolioId}
      ) seen WHERE "isOwned" OR "tenantId" = ${tenantId}`)
  )

  const elsewhere = Effect.fn("PortfolioAccessStore.elsewhere")(function* (
    { tenantId, walletId }: Person,
    { ownerAccountId, status, strategyId }: SeenFilter,
    { after, limit }: PageRequest
  ) {
    const conditions = [
      sql`p.portfolio_id IN (${portfoliosOf(sql, walletId)})`,
      sql`p.tenant_id <> ${tenantId}`,
      sql`p.archived_at IS NULL`
    ]
    if (ownerAccountId !== undefined) conditions.push(sql`p.owner_account_id = ${ownerAccountId}`)
    if (strategyId !== undefined) conditions.push(sql`p.strategy_id = ${strategyId}`)
    if (status !== undefined) conditions.push(sql`c.status = ${status}`)
    if (after !== null)
      conditions.push(sql`(p.created_at, p.portfolio_id) < (${timestamp(after.createdAt)}, ${after.id})`)
    const rows = yield* sql<PortfolioRow>`
      ${select} WHERE ${sql.and(conditions)} ORDER BY p.created_at DESC, p.portfolio_id DESC LIMIT ${limit + 1}`
    return rows.map(toPortfolio)
  }, Effect.orDie)

  return PortfolioAccessStore.of({ find, elsewhere })
})

export const layer = Layer.effect(PortfolioAccessStore, make)

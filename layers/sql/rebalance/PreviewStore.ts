/** Previews of rebalances, in PostgreSQL. */
import { type DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { PortfolioId, TenantId } from "#domain/values/Ids.ts"
import { PreviewedPlan } from "#domain/rebalance/preview/Preview.ts"
import { PreviewStore, type StoredPreview } from "#domain/rebalance/preview/PreviewStore.ts"
import { ContextColumns, joinContext, selectContext, toContext } from "#layers/sql/rebalance/planContexts.ts"
import { decodeFirst, timestamp } from "#layers/sql/rows.ts"
import { storableJson } from "#layers/sql/storable.ts"

/** Previews of one portfolio that are kept at a time. */
const kept = 10

const firstContext = decodeFirst(Schema.Struct(ContextColumns))
const firstPlan = decodeFirst(Schema.Struct({ plan: PreviewedPlan }))
const encodePlan = Schema.encodeSync(PreviewedPlan)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const context = Effect.fn("PreviewStore.context")((tenantId: TenantId, portfolioId: PortfolioId) =>
    Effect.map(
      firstContext(sql`
        SELECT ${sql.literal(selectContext)} FROM portfolios p ${sql.literal(joinContext)}
        WHERE p.portfolio_id = ${portfolioId} AND p.tenant_id = ${tenantId}`),
      Option.map(toContext)
    )
  )

  const keep = Effect.fn("PreviewStore.keep")(
    function* ({ expiresAt, plan, planHash, portfolioId }: StoredPreview, now: DateTime.Utc) {
      // One preview of a portfolio after the other, so that what is kept is counted right.
      yield* sql`SELECT 1 FROM portfolios WHERE portfolio_id = ${portfolioId} FOR NO KEY UPDATE`
      yield* sql`
        INSERT INTO rebalance_previews (portfolio_id, plan_hash, plan, expires_at)
        VALUES (${portfolioId}, ${planHash}, ${storableJson(encodePlan(plan))}::jsonb, ${timestamp(expiresAt)})
        ON CONFLICT (portfolio_id, plan_hash) DO UPDATE SET plan = excluded.plan, expires_at = excluded.expires_at`
      yield* sql`
        DELETE FROM rebalance_previews WHERE portfolio_id = ${portfolioId} AND (expires_at <= ${timestamp(now)}
          OR plan_hash NOT IN (
            SELECT plan_hash FROM rebalance_previews WHERE portfolio_id = ${portfolioId}
            ORDER BY expires_at DESC, (plan_hash = ${planHash}) DESC LIMIT ${kept}
          ))`
    },
    sql.withTransaction,
    Effect.orDie
  )

  const find = Effect.fn("PreviewStore.find")((portfolioId: PortfolioId, planHash: string, now: DateTime.Utc) =>
    Effect.map(
      firstPlan(sql`
        SELECT plan FROM rebalance_previews
        WHERE portfolio_id = ${portfolioId} AND plan_hash = ${planHash} AND expires_at > ${timestamp(now)}`),
      Option.map(({ plan }) => plan)
    )
  )

  return PreviewStore.of({ context, keep, find })
})

export const layer = Layer.effect(PreviewStore, make)

/** What runs have cost and sold, from their reports in PostgreSQL. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Address, assetAt, ChainId } from "#domain/values/Caip.ts"
import { PortfolioId } from "#domain/values/Ids.ts"
import { CostLedger } from "#domain/rebalance/plan/CostLedger.ts"
import { decodeRows, Numeric, SmallBigint, timestamp } from "#layers/sql/rows.ts"

const allSums = decodeRows(Schema.Struct({ portfolioId: PortfolioId, usd: Numeric }))

/** Tokens by their addresses on the chain, as paths have them. A swap without a path counts as over one pool. */
const allSales = decodeRows(
  Schema.Struct({
    portfolioId: PortfolioId,
    chainId: SmallBigint.pipe(Schema.decodeTo(ChainId)),
    sell: Address,
    buy: Address,
    raw: Numeric
  })
)

export const layer = Layer.effect(
  CostLedger,
  Effect.map(SqlClient.SqlClient, (sql) =>
    CostLedger.of({
      spent: Effect.fn("CostLedger.spent")(function* (portfolioIds, since) {
        const rows = yield* allSums(sql`
          SELECT o.portfolio_id AS "portfolioId", sum((c -> 'measures' -> 'worth' ->> 'costUsd')::numeric)::text AS usd
          FROM operations o
          JOIN rebalance_runs r ON r.operation_id = o.operation_id
          CROSS JOIN LATERAL jsonb_array_elements(r.report -> 'chains') c
          WHERE o.portfolio_id = ANY(${portfolioIds}::text[]) AND o.kind = 'rebalance'
          AND r.finished_at >= ${timestamp(since)}
            AND (c -> 'receipt' ->> 'success')::boolean AND c -> 'measures' -> 'worth' ->> 'costUsd' IS NOT NULL
          GROUP BY o.portfolio_id`)
        return new Map(rows.map(({ portfolioId, usd }) => [portfolioId, usd]))
      }),
      sold: Effect.fn("CostLedger.sold")(function* (portfolioIds, since) {
        const rows = yield* allSales(sql`
          WITH swaps AS (
            SELECT o.portfolio_id, (c ->> 'chainId')::bigint AS chain_id,
              coalesce(w -> 'execution' -> 'path', jsonb_build_array(substring(w ->> 'sell' FROM '[^:]+$'),
                substring(w ->> 'buy' FROM '[^:]+$'))) AS path,
              coalesce(w -> 'execution' -> 'inputsRaw', jsonb_build_array(w -> 'sellAmountRaw')) AS inputs
            FROM operations o
            JOIN rebalance_runs r ON r.operation_id = o.operation_id
            CROSS JOIN LATERAL jsonb_array_elements(r.report -> 'chains') c
            CROSS JOIN LATERAL jsonb_array_elements(c -> 'swaps') w
            WHERE o.portfolio_id = ANY(${portfolioIds}::text[]) AND o.kind = 'rebalance'
            AND r.finished_at >= ${timestamp(since)}
              AND (c -> 'receipt' ->> 'success')::boolean
          ), sales AS (
            SELECT portfolio_id, chain_id, raw::numeric, path ->> (hop::int - 1) AS sell, path ->> hop::int AS buy
            FROM swaps CROSS JOIN LATERAL jsonb_array_elements_text(inputs) WITH ORDINALITY AS pools (raw, hop)
          )
          SELECT portfolio_id AS "portfolioId", chain_id AS "chainId", sell, buy, sum(raw)::text AS raw
          FROM sales GROUP BY portfolio_id, chain_id, sell, buy ORDER BY portfolio_id, chain_id, sell, buy`)
        return new Map(
          [...Map.groupBy(rows, ({ portfolioId }) => portfolioId)].map(([portfolioId, sales]) => [
            portfolioId,
            sales.map(({ buy, chainId, raw, sell }) => ({
              sell: assetAt(chainId, sell),
              buy: assetAt(chainId, buy),
              raw
            }))
          ])
        )
      })
    })
  )
)

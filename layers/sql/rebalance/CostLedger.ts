/** What runs have cost and sold, from their reports in PostgreSQL. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AssetId } from "#domain/Caip.ts"
import { PortfolioId } from "#domain/Ids.ts"
import { CostLedger } from "#domain/rebalance/CostLedger.ts"
import { decodeRows, Numeric, timestamp } from "#layers/sql/rows.ts"

const allSums = decodeRows(Schema.Struct({ portfolioId: PortfolioId, usd: Numeric }))

const allSales = decodeRows(Schema.Struct({ portfolioId: PortfolioId, sell: AssetId, buy: AssetId, raw: Numeric }))

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
          WHERE o.portfolio_id = ANY(${portfolioIds}::text[]) AND o.kind = 'rebalance' AND r.finished_at >= ${timestamp(since)}
            AND (c -> 'receipt' ->> 'success')::boolean AND c -> 'measures' -> 'worth' ->> 'costUsd' IS NOT NULL
          GROUP BY o.portfolio_id`)
        return new Map(rows.map(({ portfolioId, usd }) => [portfolioId, usd]))
      }),
      sold: Effect.fn("CostLedger.sold")(function* (portfolioIds, since) {
        const rows = yield* allSales(sql`
          WITH swaps AS (
            SELECT o.portfolio_id, c ->> 'chainId' AS chain_id, w -> 'path' AS path,
              coalesce(w -> 'inputsRaw', jsonb_build_array(w -> 'sellAmountRaw')) AS inputs
            FROM operations o
            JOIN rebalance_runs r ON r.operation_id = o.operation_id
            CROSS JOIN LATERAL jsonb_array_elements(r.report -> 'chains') c
            CROSS JOIN LATERAL jsonb_array_elements(c -> 'swaps') w
            WHERE o.portfolio_id = ANY(${portfolioIds}::text[]) AND o.kind = 'rebalance' AND r.finished_at >= ${timestamp(since)}
              AND (c -> 'receipt' ->> 'success')::boolean
          ), sales AS (
            SELECT portfolio_id, raw::numeric, 'eip155:' || chain_id || '/erc20:' || (path ->> (hop::int - 1)) AS sell,
              'eip155:' || chain_id || '/erc20:' || (path ->> hop::int) AS buy
            FROM swaps CROSS JOIN LATERAL jsonb_array_elements_text(inputs) WITH ORDINALITY AS pools (raw, hop)
          )
          SELECT portfolio_id AS "portfolioId", sell, buy, sum(raw)::text AS raw
          FROM sales GROUP BY portfolio_id, sell, buy ORDER BY portfolio_id, sell, buy`)
        return new Map(
          [...Map.groupBy(rows, ({ portfolioId }) => portfolioId)].map(([portfolioId, sales]) => [
            portfolioId,
            sales.map(({ buy, raw, sell }) => ({ sell, buy, raw }))
          ])
        )
      })
    })
  )
)

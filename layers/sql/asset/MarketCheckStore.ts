/** What venues give for listed tokens, beside the rows of the lists. */
import { type DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type DueMarkets, type JudgedToken, MarketCheckStore } from "#domain/asset/MarketCheckStore.ts"
import { AssetId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { decodeRows, timestamp } from "#layers/sql/rows.ts"
import { storableJson } from "#layers/sql/storable.ts"

const allTokens = decodeRows(Schema.Struct({ assetId: AssetId, decimals: Schema.Int, hasIssuer: Schema.Boolean }))

const rowOf = ({ assetId, decimals, market }: JudgedToken) => ({
  assetId,
  decimals,
  price: market === null ? null : Decimal.format(market.priceUsd, 18),
  depth: market === null ? null : Decimal.format(market.depthUsd, 18)
})

export const layer = Layer.effect(
  MarketCheckStore,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const due = Effect.fn("MarketCheckStore.due")(({ chainId, limit, readBefore }: DueMarkets) =>
      allTokens(sql`
        SELECT a.asset_id AS "assetId", a.chain_decimals AS decimals,
          EXISTS (SELECT FROM asset_representations r WHERE r.caip_asset_id = a.asset_id AND r.issuer IS NOT NULL)
            AS "hasIssuer"
        FROM assets a
        WHERE a.chain_id = ${chainId} AND a.chain_decimals IS NOT NULL
          AND (a.market_at IS NULL OR a.market_at <= ${timestamp(readBefore)})
        ORDER BY a.market_at NULLS FIRST, a.asset_id LIMIT ${limit}`)
    )

    // In the order of their ids: two processes that judge the same tokens never wait for each other in a circle.
    const record = Effect.fn("MarketCheckStore.record")(
      (at: DateTime.Utc, judged: ReadonlyArray<JudgedToken>) => sql`
        WITH said AS MATERIALIZED (
          SELECT * FROM jsonb_to_recordset(${storableJson(judged.map(rowOf))}::jsonb)
            AS s ("assetId" text, decimals integer, price numeric, depth numeric)
        ), locked AS MATERIALIZED (
          SELECT asset_id FROM assets WHERE asset_id IN (SELECT "assetId" FROM said)
          ORDER BY asset_id FOR NO KEY UPDATE
        )
        UPDATE assets a
        SET market_price_usd = said.price, market_depth_usd = said.depth, market_at = ${timestamp(at)}
        FROM said JOIN locked ON locked.asset_id = said."assetId"
        WHERE a.asset_id = said."assetId" AND a.chain_decimals = said.decimals`,
      Effect.asVoid,
      Effect.orDie
    )

    return MarketCheckStore.of({ due, record })
  })
)

/** The assets of the token lists with their entries of the catalogue, in pages by id. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AssetKind } from "#domain/asset/CanonicalAsset.ts"
import { AssetId, ChainId } from "#domain/values/Caip.ts"
import { TradableAssetStore } from "#domain/listing/TradableAssets.ts"
import { decodeRows, SmallBigint } from "#layers/sql/rows.ts"

const allAssets = decodeRows(
  Schema.Struct({
    assetId: AssetId,
    chainId: SmallBigint.pipe(Schema.decodeTo(ChainId)),
    symbol: Schema.String,
    name: Schema.String,
    decimals: Schema.Int,
    isBlocked: Schema.Boolean,
    refusal: Schema.NullOr(Schema.String),
    kind: Schema.NullOr(AssetKind)
  })
)

export const layer = Layer.effect(
  TradableAssetStore,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const list = Effect.fn("TradableAssetStore.list")(
      ({ chainIds, kind, search }: Parameters<TradableAssetStore["Service"]["list"]>[0], after: string | null, limit) =>
        allAssets(sql`
          SELECT a.asset_id AS "assetId", a.chain_id AS "chainId", a.symbol, a.name,
            coalesce(a.chain_decimals, a.decimals) AS decimals,
            (a.is_blocked OR a.refusal IS NOT NULL) AS "isBlocked", a.refusal, c.kind
          FROM assets a
            LEFT JOIN asset_representations r ON r.caip_asset_id = a.asset_id
            LEFT JOIN canonical_assets c USING (asset_canonical_id)
          WHERE ${sql.and([
            sql`a.chain_id = ANY(${chainIds.map(BigInt)}::bigint[])`,
            ...(after === null ? [] : [sql`a.asset_id > ${after}`]),
            ...(kind === null ? [] : [sql`c.kind = ${kind}`]),
            ...(search === null
              ? []
              : [
                  sql`(strpos(lower(a.symbol), ${search}) > 0 OR strpos(lower(a.name), ${search}) > 0
                    OR lower(split_part(a.asset_id, ':', 3)) = ${search} OR lower(a.asset_id) = ${search})`
                ])
          ])}
          ORDER BY a.asset_id
          LIMIT ${limit}`).pipe(
          Effect.map((rows) =>
            rows.map(({ refusal, ...asset }) => ({ ...asset, ...(refusal === null ? {} : { refusal }) }))
          )
        )
    )

    return TradableAssetStore.of({ list })
  })
)

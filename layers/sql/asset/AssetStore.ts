/** The asset catalogue in PostgreSQL: the domain reads it as `Assets`, the loader of token lists fills it. */
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Asset } from "#domain/asset/Asset.ts"
import { Assets } from "#domain/asset/Assets.ts"
import { AssetId, ChainId } from "#domain/values/Caip.ts"
import { shared } from "#domain/effects/batched.ts"
import { Wad } from "#layers/sql/allocationColumns.ts"
import { batchedStatement } from "#layers/sql/batchedStatement.ts"
import { decodeRows, SmallBigint, timestamp } from "#layers/sql/rows.ts"

const AssetRow = Schema.Struct({
  assetId: AssetId,
  chainId: SmallBigint.pipe(Schema.decodeTo(ChainId)),
  symbol: Schema.String,
  name: Schema.String,
  decimals: Schema.Int,
  isBlocked: Schema.Boolean,
  refusal: Schema.NullOr(Schema.String),
  marketPriceUsd: Schema.NullOr(Wad),
  marketDepthUsd: Schema.NullOr(Wad)
})
const allRows = decodeRows(AssetRow)

/** Decimals of its chain where they are known, of its list until then. */
const columns = `asset_id AS "assetId", chain_id AS "chainId", symbol, name, refusal,
  market_price_usd AS "marketPriceUsd", market_depth_usd AS "marketDepthUsd",
  coalesce(chain_decimals, decimals) AS decimals, (is_blocked OR refusal IS NOT NULL) AS "isBlocked"`

const toAsset = ({
  marketDepthUsd: depthUsd,
  marketPriceUsd: priceUsd,
  refusal,
  ...asset
}: typeof AssetRow.Type): Asset => ({
  ...asset,
  ...(refusal === null ? {} : { refusal }),
  ...(depthUsd === null || priceUsd === null ? {} : { market: { priceUsd, depthUsd } })
})
const allAssets = (...given: Parameters<typeof allRows>) => Effect.map(allRows(...given), (rows) => rows.map(toAsset))

export class AssetStore extends Context.Service<
  AssetStore,
  {
    readonly find: (assetIds: ReadonlyArray<AssetId>) => Effect.Effect<ReadonlyMap<AssetId, Asset>>
    readonly onChain: (chainId: ChainId) => Effect.Effect<ReadonlyArray<Asset>>
    /** Adds the assets, or replaces what is known of them; of several entries for one asset the last counts. */
    readonly upsertAssets: (assets: ReadonlyArray<Asset>) => Effect.Effect<void>
  }
>()("ballast/layers/sql/asset/AssetStore") {
  private static readonly make = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    // Valuations at the same moment share a read of what each of them names.
    const find = yield* batchedStatement((wanted: ReadonlyArray<ReadonlyArray<AssetId>>) =>
      Effect.map(
        allAssets(sql`
          SELECT ${sql.literal(columns)} FROM assets WHERE asset_id = ANY(${[...new Set(wanted.flat())]}::text[])`),
        (rows) => {
          const found = new Map(rows.map((asset) => [asset.assetId, asset]))
          return wanted.map(
            (assetIds): ReadonlyMap<AssetId, Asset> =>
              new Map(
                assetIds.flatMap((assetId) => {
                  const asset = found.get(assetId)
                  return asset === undefined ? [] : [[assetId, asset] as const]
                })
              )
          )
        }
      )
    )

    // Runs that plan at the same moment share one read of a chain's catalogue.
    const onChain = yield* shared((chainId: ChainId) =>
      allAssets(sql`SELECT ${sql.literal(columns)} FROM assets WHERE chain_id = ${chainId} ORDER BY asset_id`)
    )

    const upsertAssets = Effect.fn("AssetStore.upsertAssets")(function* (assets: ReadonlyArray<Asset>) {
      const rows = [...new Map(assets.map((asset) => [asset.assetId, asset])).values()]
      const now = timestamp(yield* DateTime.now)
      yield* sql`
        INSERT INTO assets (asset_id, chain_id, symbol, name, decimals, is_blocked, updated_at)
        SELECT asset_id, chain_id, symbol, name, decimals, is_blocked, ${now}
        FROM unnest(${rows.map((row) => row.assetId)}::text[], ${rows.map((row) => BigInt(row.chainId))}::bigint[],
          ${rows.map((row) => row.symbol)}::text[], ${rows.map((row) => row.name)}::text[],
          ${rows.map((row) => row.decimals)}::int[], ${rows.map((row) => row.isBlocked)}::boolean[]
        ) AS listed (asset_id, chain_id, symbol, name, decimals, is_blocked)
        ON CONFLICT (asset_id) DO UPDATE SET symbol = excluded.symbol, name = excluded.name,
          decimals = excluded.decimals, is_blocked = excluded.is_blocked, updated_at = excluded.updated_at,
          chain_decimals = NULL, refusal = NULL, checked_at = NULL,
          market_price_usd = NULL, market_depth_usd = NULL, market_at = NULL
        WHERE (assets.symbol, assets.name, assets.decimals, assets.is_blocked)
          IS DISTINCT FROM (excluded.symbol, excluded.name, excluded.decimals, excluded.is_blocked)`
    }, Effect.orDie)

    return AssetStore.of({ find, onChain, upsertAssets })
  })

  /** Provides the store and, of the same, the domain's `Assets`. */
  static readonly layer = Layer.effect(
    Assets,
    Effect.map(AssetStore, (store) => Assets.of(store))
  ).pipe(Layer.provideMerge(Layer.effect(AssetStore, AssetStore.make)))
}

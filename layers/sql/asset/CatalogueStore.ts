/** The catalogue in PostgreSQL: the domain reads it as `Catalogue`, the program that brings it writes it whole. */
import { createHash } from "node:crypto"
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AssetCanonicalId, AssetKind } from "#domain/asset/CanonicalAsset.ts"
import { Catalogue } from "#domain/asset/Catalogue.ts"
import type { CatalogueContent } from "#domain/asset/CatalogueContent.ts"
import { Dimension } from "#domain/asset/Dimension.ts"
import { AssetId } from "#domain/values/Caip.ts"
import { decodeRows, timestamp } from "#layers/sql/rows.ts"
import { storableJson } from "#layers/sql/storable.ts"

const allSubjects = decodeRows(
  Schema.Struct({
    /** Null in the rows of assets that were requested by their own id. */
    caipAssetId: Schema.NullOr(AssetId),
    symbolOnChain: Schema.NullOr(Schema.String),
    assetCanonicalId: AssetCanonicalId,
    kind: AssetKind,
    symbol: Schema.String,
    name: Schema.String
  })
)

const allClassifications = decodeRows(
  Schema.Struct({
    assetCanonicalId: AssetCanonicalId,
    dimension: Dimension,
    key: Schema.String,
    label: Schema.String,
    confidence: Schema.Int,
    rank: Schema.Int
  })
)

const contentHash = (content: CatalogueContent): string =>
  createHash("sha256").update(JSON.stringify(content)).digest("hex")

export class CatalogueStore extends Context.Service<
  CatalogueStore,
  {
    /**
     * Makes this the content of the catalogue, in one transaction, and returns true; returns false without writing when
     * it already is. Of processes that bring the same content at the same time, one writes.
     */
    readonly load: (content: CatalogueContent) => Effect.Effect<boolean>
  }
>()("ballast/layers/sql/asset/CatalogueStore") {
  private static readonly make = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const isLoaded = (hash: string, lock: string) =>
      Effect.map(
        sql<{ readonly content_hash: string }>`SELECT content_hash FROM catalogue_content ${sql.literal(lock)}`,
        ([stored]) => stored?.content_hash === hash
      )

    const write = Effect.fnUntraced(function* ({ assets, classifications, representations }: CatalogueContent) {
      yield* sql`DELETE FROM asset_classifications`
      yield* sql`DELETE FROM asset_representations`
      yield* sql`DELETE FROM canonical_assets`
      yield* sql`
        INSERT INTO canonical_assets (asset_canonical_id, kind, symbol, name)
        SELECT * FROM jsonb_to_recordset(${storableJson(assets)}::jsonb)
          AS n ("assetCanonicalId" uuid, kind text, symbol text, name text)`
      yield* sql`
        INSERT INTO asset_representations (caip_asset_id, asset_canonical_id, issuer, unit_model, decimals, symbol)
        SELECT * FROM jsonb_to_recordset(${storableJson(representations)}::jsonb)
          AS n ("caipAssetId" text, "assetCanonicalId" uuid, issuer text, "unitModel" text, decimals smallint,
            symbol text)`
      yield* sql`
        INSERT INTO asset_classifications (asset_canonical_id, dimension, key, label, confidence_bps, rank)
        SELECT * FROM jsonb_to_recordset(${storableJson(classifications)}::jsonb)
          AS n ("assetCanonicalId" uuid, dimension text, key text, label text, confidence smallint, rank smallint)`
    })

    /** The lock makes processes take turns; the one that comes second finds the content of the first. */
    const replace = Effect.fnUntraced(function* (content: CatalogueContent, hash: string) {
      if (yield* isLoaded(hash, "FOR UPDATE")) return false
      yield* write(content)
      const now = timestamp(yield* DateTime.now)
      yield* sql`UPDATE catalogue_content SET content_hash = ${hash}, loaded_at = ${now}`
      return true
    }, sql.withTransaction)

    const load = Effect.fn("CatalogueStore.load")(function* (content: CatalogueContent) {
      const hash = contentHash(content)
      return (yield* isLoaded(hash, "")) ? false : yield* replace(content, hash)
    }, Effect.orDie)

    return CatalogueStore.of({ load })
  })

  private static readonly makeCatalogue = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const resolve = Effect.fn("Catalogue.resolve")(
      (ids: Parameters<Catalogue["Service"]["resolve"]>[0]) =>
        allSubjects(sql`
          SELECT r.caip_asset_id AS "caipAssetId", r.symbol AS "symbolOnChain",
            a.asset_canonical_id AS "assetCanonicalId", a.kind, a.symbol, a.name
          FROM asset_representations r JOIN canonical_assets a USING (asset_canonical_id)
          WHERE r.caip_asset_id = ANY(${ids.represented}::text[])
          UNION ALL
          SELECT NULL, NULL, asset_canonical_id, kind, symbol, name
          FROM canonical_assets WHERE asset_canonical_id = ANY(${ids.canonical}::uuid[])`),
      Effect.map((rows) => ({
        canonical: new Map(
          rows.flatMap(({ caipAssetId, symbolOnChain: _, ...asset }) =>
            caipAssetId === null ? [[asset.assetCanonicalId, asset] as const] : []
          )
        ),
        represented: new Map(
          rows.flatMap(({ caipAssetId, symbolOnChain, ...asset }) =>
            caipAssetId === null || symbolOnChain === null ? [] : [[caipAssetId, { ...asset, symbolOnChain }] as const]
          )
        )
      }))
    )

    const classifications = Effect.fn("Catalogue.classifications")(
      (assetCanonicalIds: ReadonlyArray<AssetCanonicalId>, dimensions: ReadonlyArray<Dimension>) =>
        allClassifications(sql`
          SELECT asset_canonical_id AS "assetCanonicalId", dimension, key, label, confidence_bps AS confidence, rank
          FROM asset_classifications
          WHERE asset_canonical_id = ANY(${assetCanonicalIds}::uuid[]) AND dimension = ANY(${dimensions}::text[])`)
    )

    return Catalogue.of({ resolve, classifications })
  })

  /** Provides the store and, of the same tables, the domain's `Catalogue`. */
  static readonly layer = Layer.mergeAll(
    Layer.effect(CatalogueStore, CatalogueStore.make),
    Layer.effect(Catalogue, CatalogueStore.makeCatalogue)
  )
}

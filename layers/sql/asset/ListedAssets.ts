/** Catalogue and token lists in PostgreSQL, read as one list of tokens. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { UnitModel } from "#domain/asset/AssetRepresentation.ts"
import { AssetCanonicalId, AssetKind } from "#domain/asset/CanonicalAsset.ts"
import { Dimension } from "#domain/asset/Dimension.ts"
import { ListedAssets, type ListedAsset } from "#domain/asset/ListedAssets.ts"
import { AssetId } from "#domain/values/Caip.ts"
import { decodeRows } from "#layers/sql/rows.ts"

const allTokens = decodeRows(
  Schema.Struct({
    caipAssetId: AssetId,
    symbol: Schema.String,
    name: Schema.String,
    decimals: Schema.Int,
    issuer: Schema.NullOr(Schema.String),
    unitModel: Schema.NullOr(UnitModel),
    assetCanonicalId: Schema.NullOr(AssetCanonicalId),
    kind: Schema.NullOr(AssetKind),
    subjectSymbol: Schema.NullOr(Schema.String)
  })
)
const allCategories = decodeRows(
  Schema.Struct({ assetCanonicalId: AssetCanonicalId, dimension: Dimension, key: Schema.String, label: Schema.String })
)
const versions = decodeRows(Schema.Struct({ version: Schema.String }))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const version = Effect.map(
    versions(sql`
      SELECT concat((SELECT content_hash FROM catalogue_content), ' ', count(*), ' ', max(updated_at)) AS version
      FROM assets WHERE NOT is_blocked`),
    ([row]) => row?.version ?? ""
  )

  const all = Effect.gen(function* () {
    const tokens = yield* allTokens(sql`
      SELECT r.caip_asset_id AS "caipAssetId", r.symbol, c.name, r.decimals, r.issuer, r.unit_model AS "unitModel",
        c.asset_canonical_id AS "assetCanonicalId", c.kind, c.symbol AS "subjectSymbol"
      FROM asset_representations r JOIN canonical_assets c USING (asset_canonical_id)
      UNION ALL
      SELECT a.asset_id, a.symbol, a.name, a.decimals, NULL, NULL, NULL, NULL, NULL
      FROM assets a
      WHERE NOT a.is_blocked AND NOT EXISTS (SELECT FROM asset_representations r WHERE r.caip_asset_id = a.asset_id)`)
    const categories = yield* allCategories(sql`
      SELECT asset_canonical_id AS "assetCanonicalId", dimension, key, label FROM asset_classifications
      ORDER BY confidence_bps DESC, rank, key`)
    const categoriesOf = Map.groupBy(categories, ({ assetCanonicalId }) => assetCanonicalId)
    return tokens.map(({ assetCanonicalId, kind, subjectSymbol, ...token }): ListedAsset => {
      const isKnown = assetCanonicalId !== null && kind !== null && subjectSymbol !== null
      return {
        ...token,
        subject: isKnown ? { assetCanonicalId, kind, symbol: subjectSymbol, name: token.name } : null,
        categories: isKnown ? (categoriesOf.get(assetCanonicalId) ?? []) : []
      }
    })
  }).pipe(Effect.withSpan("ListedAssets.all"))

  return ListedAssets.of({ version, all })
})

export const layer = Layer.effect(ListedAssets, make)

/** All that the catalogue holds, as one value. */
import type { AssetRepresentation } from "#domain/asset/AssetRepresentation.ts"
import type { CanonicalAsset } from "#domain/asset/CanonicalAsset.ts"
import type { Classification } from "#domain/asset/Classification.ts"

export interface CatalogueContent {
  readonly assets: ReadonlyArray<CanonicalAsset>
  readonly representations: ReadonlyArray<AssetRepresentation>
  readonly classifications: ReadonlyArray<Classification>
}

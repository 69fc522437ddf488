/** Port: canonical assets, their tokens and their categories. */
import { Context, type Effect } from "effect"
import type { AssetCanonicalId, CanonicalAsset } from "#domain/asset/CanonicalAsset.ts"
import type { Classification } from "#domain/asset/Classification.ts"
import type { Dimension } from "#domain/asset/Dimension.ts"
import type { AssetId } from "#domain/values/Caip.ts"

/** A canonical asset as one of its tokens, with the token's own symbol. */
export interface Represented extends CanonicalAsset {
  readonly symbolOnChain: string
}

export interface Resolved {
  readonly canonical: ReadonlyMap<AssetCanonicalId, CanonicalAsset>
  readonly represented: ReadonlyMap<AssetId, Represented>
}

/**
 * What canonical assets are, and which tokens stand for them.
 *
 * **When to use**
 *
 * Use to break holdings down by subject or category. What can be traded on a chain is in `Assets`.
 */
export class Catalogue extends Context.Service<
  Catalogue,
  {
    /** The known ones of the given ids; tokens resolve to the subject that they stand for. */
    readonly resolve: (ids: {
      readonly canonical: ReadonlyArray<AssetCanonicalId>
      readonly represented: ReadonlyArray<AssetId>
    }) => Effect.Effect<Resolved>
    /** All categories of the given assets in the given dimensions, in no order. */
    readonly classifications: (
      assetCanonicalIds: ReadonlyArray<AssetCanonicalId>,
      dimensions: ReadonlyArray<Dimension>
    ) => Effect.Effect<ReadonlyArray<Classification>>
  }
>()("ballast/domain/asset/Catalogue") {}

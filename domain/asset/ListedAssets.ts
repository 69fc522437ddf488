/** Port: every token that the deployment lists, from its catalogue and from its token lists, as one table. */
import { Context, type Effect } from "effect"
import type { UnitModel } from "#domain/asset/AssetRepresentation.ts"
import type { CanonicalAsset } from "#domain/asset/CanonicalAsset.ts"
import type { Dimension } from "#domain/asset/Dimension.ts"
import type { AssetId } from "#domain/values/Caip.ts"

export interface ListedAsset {
  readonly caipAssetId: AssetId
  /** The symbol of the token on its chain. */
  readonly symbol: string
  readonly name: string
  readonly decimals: number
  /** What the token stands for; null for a token that only a token list names. */
  readonly subject: CanonicalAsset | null
  /** Slug of the issuer that tokenizes the subject. */
  readonly issuer: string | null
  readonly unitModel: UnitModel | null
  /** Categories of the subject, the most fitting first in each dimension. */
  readonly categories: ReadonlyArray<{ readonly dimension: Dimension; readonly key: string; readonly label: string }>
}

/**
 * Every listed token, as one table.
 *
 * **When to use**
 *
 * Use to build something over all of them, such as an index. Single ones are found by `Assets`.
 *
 * **Details**
 *
 * The table is large. Compare `version` first and read `all` only when it changed.
 */
export class ListedAssets extends Context.Service<
  ListedAssets,
  {
    /** Changes whenever `all` would answer something else. */
    readonly version: Effect.Effect<string>
    readonly all: Effect.Effect<ReadonlyArray<ListedAsset>>
  }
>()("ballast/domain/asset/ListedAssets") {}

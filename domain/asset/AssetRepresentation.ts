/** One token on one chain that stands for a canonical asset. */
import { Schema } from "effect"
import type { AssetCanonicalId } from "#domain/asset/CanonicalAsset.ts"
import type { AssetId } from "#domain/values/Caip.ts"

/**
 * How a raw balance relates to units of the canonical asset.
 *
 * - `plain`: a token is a unit.
 * - `scaled`: the raw balance stays and a multiplier on chain turns it into units (ERC-8056, Token-2022).
 * - `rebasing`: the raw balance itself changes with corporate actions.
 * - `accruing`: the raw balance stays and a token comes to be worth more than a unit, as income is reinvested.
 */
export const UnitModel = Schema.Literals(["plain", "scaled", "rebasing", "accruing"])
export type UnitModel = typeof UnitModel.Type

export interface AssetRepresentation {
  readonly caipAssetId: AssetId
  readonly assetCanonicalId: AssetCanonicalId
  /** Slug of the issuer that tokenizes the subject; null for a coin's own token and its wrapped forms. */
  readonly issuer: string | null
  readonly unitModel: UnitModel
  readonly decimals: number
  /** The symbol of the token on its chain. */
  readonly symbol: string
}

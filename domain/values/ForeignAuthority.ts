/** Somebody besides the portfolio's own agent who may move what its account holds of an asset, or close the account. */
import { Schema } from "effect"
import { AssetId } from "#domain/values/Caip.ts"

export const ForeignAuthority = Schema.Struct({
  assetId: AssetId,
  /** Address of the delegate, of the close authority, or of the new owner. */
  holder: Schema.String
})
export type ForeignAuthority = typeof ForeignAuthority.Type

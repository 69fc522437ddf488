/**
 * What an asset is, whatever chain and issuer its tokens have: the share of a company, a fund, a coin, a currency.
 *
 * USDC on four chains is one canonical asset, and so is the share that several issuers tokenize.
 */
import { Schema } from "effect"
import { fromText } from "#domain/values/fromText.ts"

const shape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** UUID in lower case, fixed once for each canonical asset and never derived. Decoding accepts upper case. */
export const AssetCanonicalId = fromText(Schema.String.pipe(Schema.brand("AssetCanonicalId")), {
  expected: "a UUID",
  pattern: /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/,
  example: "bcdeaefd-258f-4614-bcd6-8c5eea3d5720",
  parse: (text) => (shape.test(text.toLowerCase()) ? text.toLowerCase() : undefined),
  format: (id) => id
})
export type AssetCanonicalId = typeof AssetCanonicalId.Type

/**
 * `equity`: shares of one company. `etf`: shares of a fund. `crypto`: a coin or token of a network or protocol.
 * `stablecoin`: follows a currency. `commodity`: a claim on a physical good.
 */
export const AssetKind = Schema.Literals(["equity", "etf", "crypto", "stablecoin", "commodity"])
export type AssetKind = typeof AssetKind.Type

export interface CanonicalAsset {
  readonly assetCanonicalId: AssetCanonicalId
  readonly kind: AssetKind
  /** The ticker or symbol of the subject, without an issuer's affix. */
  readonly symbol: string
  readonly name: string
}

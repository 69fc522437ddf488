import { Schema } from "effect"
import { ChainId } from "#domain/values/Caip.ts"
import { AssetKind } from "#domain/asset/CanonicalAsset.ts"
import { fromText } from "#domain/values/fromText.ts"
import { freeText } from "#http/values/freeText.ts"
import { pageQuery } from "#http/values/PageQuery.ts"
import { AssetIdText, prose, timestamp, written } from "#http/values/values.ts"

const chainDigits = /^[1-9][0-9]{0,15}$/u

export const assetQuery = {
  search: Schema.optionalKey(
    freeText(
      { minimum: 1, maximum: 64 },
      "Part of a symbol or a name, or a whole address; case does not matter.",
      "usdc"
    )
  ),
  chainId: Schema.optionalKey(
    fromText(ChainId, {
      expected: "the id of a supported chain; only its assets are listed",
      example: "8453",
      pattern: chainDigits,
      parse: (text) => (chainDigits.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined),
      format: String
    })
  ),
  kind: Schema.optionalKey(AssetKind.annotate({ description: "Only of this kind.", examples: ["stablecoin"] })),
  ...pageQuery
}

const Price = Schema.Struct({
  usd: written("US dollars for one whole token.", /^[0-9]{1,60}(\.[0-9]{1,18})?$/u, "2500.12"),
  asOf: timestamp("Time at which its source saw it"),
  ageSeconds: Schema.Int.annotate({ description: "How long ago that was.", examples: [42] })
}).annotate({
  identifier: "AssetPrice",
  description: "A price out of the shared cache of market data. Runs read one of their own before they trade."
})

const Tradability = Schema.Struct({
  isTradable: Schema.Boolean.annotate({ description: "Whether runs buy and sell it now.", examples: [true] }),
  code: Schema.NullOr(Schema.Literals(["ASSET_BLOCKED", "MISSING_PRICE", "STALE_PRICE"])).annotate({
    description: "Why not, in the codes of skips; null when it is tradable.",
    examples: [null]
  }),
  reason: Schema.NullOr(prose("Why not, as a sentence.", 1000, "No source has a price of ABC")).annotate({
    description: "Sentence that says why, with what would change it; null when it is tradable.",
    examples: [null]
  })
}).annotate({ identifier: "Tradability", description: "Whether runs trade an asset, and why not." })

export const ListedAsset = Schema.Struct({
  assetId: AssetIdText,
  chainId: Schema.Int.annotate({ description: "Where the token is.", examples: [8453] }),
  symbol: prose("Symbol in the token list.", 512, "USDC"),
  name: prose("Symbol in the token list.", 512, "USD Coin"),
  decimals: Schema.Int.annotate({ description: "Decimal places of the smallest unit.", examples: [6] }),
  kind: Schema.NullOr(AssetKind).annotate({
    description: "What the token stands for; null where the catalogue does not know it.",
    examples: ["stablecoin"]
  }),
  tradability: Tradability,
  price: Schema.NullOr(Price).annotate({ description: "Null where no source has one." })
}).annotate({ identifier: "ListedAsset", description: "An asset that strategies may name." })

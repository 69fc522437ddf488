/** The patterns of the document are those of the parsers, checksums aside. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import fc from "fast-check"
import { AssetCanonicalId } from "#domain/asset/CanonicalAsset.ts"
import { HoldingWeightFromString } from "#domain/breakdown/HoldingWeight.ts"
import { Erc20AssetId, EvmAccountId, EvmAddress, EvmWalletId, SplAssetId } from "#domain/values/Caip.ts"
import { UsdFromString } from "#domain/values/Decimal.ts"
import { WeightFromString } from "#domain/values/Weight.ts"
import { limitUpTo } from "#http/values/PageQuery.ts"

const codecs: Readonly<Record<string, Schema.Codec<unknown, string>>> = {
  EvmWalletId,
  EvmAccountId,
  Erc20AssetId,
  SplAssetId,
  EvmAddress,
  AssetCanonicalId,
  UsdFromString,
  WeightFromString,
  HoldingWeightFromString,
  limit: limitUpTo(200)
}

/** Schemas that say more than a pattern can: above zero and at most 100, or a mint of exactly 32 bytes. */
const wider = new Set(["WeightFromString", "SplAssetId", "limit"])

const patternOf = (codec: Schema.Codec<unknown, string>): RegExp => {
  const { schema } = Schema.toJsonSchemaDocument(codec) as { readonly schema: any }
  return new RegExp(schema.pattern ?? schema.allOf[0].pattern, "u")
}

const spoilt = (text: string) =>
  fc
    .tuple(fc.nat(text.length), fc.nat(2), fc.constantFrom("", "0", "x", "A", ".", "-", " ", ":", "\n", "٣", "/"))
    .map(([at, cut, put]) => `${text.slice(0, at)}${put}${text.slice(at + cut)}`)

describe("patterns", () => {
  for (const [name, codec] of Object.entries(codecs)) {
    const pattern = patternOf(codec)
    const accepts = (text: string) => Schema.decodeUnknownOption(codec)(text)._tag === "Some"
    const [example] = (Schema.toJsonSchemaDocument(codec).schema as any).examples

    it(`${name}: what is read fits, and what fits is read in lower case`, () => {
      assert.isTrue(accepts(example) && pattern.test(example), example)
      fc.assert(
        fc.property(fc.oneof(spoilt(example), spoilt(example.toLowerCase()), fc.string()), (text) => {
          if (accepts(text)) assert.isTrue(pattern.test(text), text)
          if (pattern.test(text) && !wider.has(name)) assert.isTrue(accepts(text.toLowerCase()), text)
        })
      )
    })
  }
})

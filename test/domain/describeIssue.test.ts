import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { AssetId, Erc20AssetId, EvmAccountId } from "#domain/Caip.ts"
import { describeIssue, detailsOf } from "#domain/describeIssue.ts"
import { AssetKey } from "#domain/listing/AssetKey.ts"
import { WeightFromString } from "#domain/Weight.ts"

const described = (schema: Schema.Codec<unknown, unknown>, sent: unknown) =>
  Effect.map(Effect.flip(Schema.decodeUnknownEffect(schema)(sent, { errors: "all" })), ({ issue }) =>
    describeIssue(issue).map(({ path, reason }) => `${path.map(String).join(".")}: ${reason}`)
  )

describe("describeIssue", () => {
  it.effect("shows no regular expression, whatever a schema says of itself", () =>
    Effect.gen(function* () {
      const body = Schema.Struct({
        bare: Schema.String.check(Schema.isPattern(/^[a-z]+$/u)),
        described: Schema.String.check(Schema.isPattern(/^[a-z]+$/u, { expected: "small letters" }))
      })
      assert.deepStrictEqual(yield* described(body, { bare: "7", described: "7" }), [
        "bare: Expected the documented form",
        "described: Expected small letters"
      ])
    })
  )

  it.effect("says in words which types are wrong, missing or too much, and no type expression", () =>
    Effect.gen(function* () {
      const body = Schema.Struct({
        name: Schema.NullOr(Schema.String),
        kind: Schema.Literals(["a", "b"]),
        items: Schema.Array(Schema.Struct({ size: Schema.Int })),
        isOpen: Schema.Boolean
      })
      const sent = { name: 7, kind: "c", items: [{ size: "x" }, 3] }
      assert.deepStrictEqual(yield* described(body, sent), [
        "name: Expected text or null",
        'kind: Expected "a" or "b"',
        "items.0.size: Expected a whole number",
        "items.1: Expected an object",
        "isOpen: is required"
      ])
    })
  )

  it.effect("names the fields beside one that is not known", () =>
    Effect.gen(function* () {
      const body = Schema.Struct({
        name: Schema.String,
        size: Schema.optionalKey(Schema.Struct({ width: Schema.Int }))
      })
      const strict = { errors: "all", onExcessProperty: "error" } as const
      const { issue } = yield* Effect.flip(
        Schema.decodeUnknownEffect(body)({ name: "a", nmae: "b", size: { width: 1, height: 2 } }, strict)
      )
      assert.sameMembers(
        [...detailsOf(issue, "body")],
        [
          "nmae: is not a field here; the fields are name, size",
          "size.height: is not a field here; the fields are width"
        ]
      )
    })
  )

  it.effect("shows an example beside a wrong type, in quotes where it is text, and beside a wrong form", () =>
    Effect.gen(function* () {
      const body = Schema.Struct({
        weight: WeightFromString,
        coin: Schema.String.check(Schema.isPattern(/^[a-z]+$/u, { expected: "small letters" })).annotate({
          examples: ["bitcoin"]
        })
      })
      assert.deepStrictEqual(yield* described(body, { weight: 50, coin: 7 }), [
        'weight: Expected text, such as "100.00"',
        'coin: Expected text, such as "bitcoin"'
      ])
      assert.deepStrictEqual(yield* described(body, { weight: "fifty", coin: "7" }), [
        "weight: Expected a percentage string above 0 and at most 100, with up to 2 decimals, such as 100.00",
        "coin: Expected small letters, such as bitcoin"
      ])
    })
  )

  it.effect("of a bare address says which part of a CAIP id comes first", () =>
    Effect.gen(function* () {
      const address = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
      const body = Schema.Struct({ asset: Erc20AssetId, any: AssetId, account: EvmAccountId, key: AssetKey })
      const lines = yield* described(body, { asset: address, any: address, account: address, key: address })
      assert.lengthOf(lines, 4)
      for (const line of lines) assert.match(line, /(chain first and then|chain comes first).*eip155:/u)
    })
  )
})

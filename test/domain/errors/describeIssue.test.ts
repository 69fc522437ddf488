import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { AssetId, Erc20AssetId, EvmAccountId } from "#domain/values/Caip.ts"
import { describedParsing, describeIssue, detailsOf } from "#domain/errors/describeIssue.ts"
import { UsdFromString } from "#domain/values/Decimal.ts"
import { AssetKey } from "#domain/listing/AssetKey.ts"
import { WeightFromString } from "#domain/values/Weight.ts"

const described = (schema: Schema.Codec<unknown, unknown>, sent: unknown) =>
  Effect.map(Effect.flip(Schema.decodeUnknownEffect(schema)(sent, describedParsing)), ({ issue }) =>
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

  it.effect("finds the example of a value that may be null, of a number and of a list", () =>
    Effect.gen(function* () {
      const body = Schema.Struct({
        thresholdUsd: Schema.NullOr(UsdFromString).annotate({ description: "None: null." }),
        slippageBps: Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 }))).annotate({
          examples: [50]
        }),
        chainIds: Schema.Array(Schema.Int).annotate({ examples: [[8453]] })
      })
      assert.deepStrictEqual(yield* described(body, { thresholdUsd: 50, slippageBps: 7.5, chainIds: 8453 }), [
        'thresholdUsd: Expected text or null, such as "5.00"',
        "slippageBps: Expected an integer, such as 50",
        "chainIds: Expected a list, such as [8453]"
      ])
    })
  )

  it.effect("of a union names the field that says which member is meant, or what is wrong with the one that is", () =>
    Effect.gen(function* () {
      const quoted = Schema.Struct({ provider: Schema.optionalKey(Schema.Literal("lifi")), route: Schema.String })
      const issued = Schema.Struct({ provider: Schema.Literal("issuer"), amount: Schema.String })
      const body = Schema.Union([
        Schema.Struct({ kind: Schema.Literal("swap"), params: Schema.Union([quoted, issued]) }),
        Schema.Struct({ kind: Schema.Literal("sell"), size: Schema.Int })
      ])
      for (const [sent, lines] of [
        [{}, ['kind: is required: "swap" or "sell"']],
        [{ kind: "bridge", params: {} }, ['kind: Expected "swap" or "sell"']],
        [{ kind: "sell" }, ["size: is required"]],
        [{ kind: "swap", params: {} }, ["params.route: is required"]],
        [{ kind: "swap", params: { provider: "issuer" } }, ["params.amount: is required"]],
        [{ kind: "swap", params: { provider: "other" } }, ['params.provider: Expected "lifi" or "issuer"']],
        [{ kind: "swap", params: { provider: 3 } }, ['params.provider: Expected "lifi" or "issuer"']],
        [{ kind: "swap", params: [] }, ["params: Expected an object"]],
        [[], [": Expected an object"]],
        [null, [": Expected an object"]]
      ] as const)
        assert.deepStrictEqual(yield* described(body, sent), [...lines], JSON.stringify(sent))
    })
  )

  it.effect("of members that nothing tells apart describes the one that most of the value fits", () =>
    Effect.gen(function* () {
      const body = Schema.Union([
        Schema.Struct({ assetId: Schema.String, amount: Schema.String, note: Schema.String }),
        Schema.Struct({ quoteId: Schema.String })
      ])
      assert.deepStrictEqual(yield* described(body, { quoteId: 7 }), ["quoteId: Expected text"])
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

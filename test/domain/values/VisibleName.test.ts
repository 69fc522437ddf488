/** Names of people's things are what they seem: in every contract that takes one. */
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { PortfolioName } from "#domain/portfolio/PortfolioName.ts"
import { isVisibleName } from "#domain/values/VisibleName.ts"
import { StrategyDraft, StrategyPatch } from "#http/v2/strategy/StrategyModel.ts"
import { ApiKeyProcedures } from "#rpc/ApiKeys.ts"

const unseen: Readonly<Record<string, ReadonlyArray<string>>> = {
  "control characters": ["Blue\u0000chips", "Blue\nchips", "Blue\tchips", "Blue\u0085chips", "\u001b[31mred", "\u007f"],
  "marks of direction": ["\u202echips", "a\u202ab", "a\u2066b", "a\u200eb", "a\u200fb", "a\u061cb", "a\u2069"],
  "characters without a width": [
    "Blue\u200bchips",
    "a\u200cb",
    "a\u200db",
    "a\u2060b",
    "a\ufeffb",
    "a\u00adb",
    "a\u034fb"
  ],
  "letters without a width": ["\u3164", "\uffa0", "\u115f", "a\u17b4"],
  "separators of lines": ["a\u2028b", "a\u2029b"],
  "nothing to be seen": ["", " ", "\u00a0", "\u3000", "\u2800", "\u200b", "\u0301"],
  "lone surrogates": ["a\ud800", "\udc00a"],
  tags: ["a\u{e0041}", "a\u{e0100}"]
}

const takes = (schema: Schema.Top, value: unknown): boolean =>
  Result.isSuccess(Schema.decodeUnknownResult(schema as Schema.Codec<unknown, unknown>)(value))

const name = Schema.String.check(isVisibleName)
const draft = (value: string) => ({
  name: value,
  allocation: {
    assets: [{ assetId: "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", weight: "100" }]
  }
})

describe("a name", () => {
  for (const [what, values] of Object.entries(unseen))
    it(`with ${what} is refused, for strategies and keys as for portfolios`, () => {
      for (const value of values) {
        const shown = JSON.stringify(value)
        assert.isFalse(takes(name, value), shown)
        assert.isFalse(takes(StrategyDraft, draft(value)), shown)
        assert.isFalse(takes(StrategyPatch, { name: value }), shown)
        assert.isFalse(takes(PortfolioName, value), shown)
        assert.isFalse(
          takes(ApiKeyProcedures.requests.get("apiKeys.create")!.payloadSchema, { name: value, scopes: [] }),
          shown
        )
      }
    })

  it("is taken in every script, with signs and with emoji", () => {
    for (const value of [
      "Blue chips",
      "Fonds à 50 %",
      "Стратегия 1",
      "蓝筹股",
      "محفظة",
      "निवेश",
      "Growth 🚀",
      "I ❤️ ETH",
      "a\u0301"
    ]) {
      assert.isTrue(takes(name, value), value)
      assert.isTrue(takes(StrategyDraft, draft(value)), value)
    }
  })
})

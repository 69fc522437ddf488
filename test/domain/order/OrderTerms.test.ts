/** Orders are stored with their tag. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { OrderTerms, kindOf } from "#domain/order/OrderTerms.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"

const place = { chainId: 8453, accountId: "eip155:8453:0x8617E340B3D01FA5F11F306F4090FD50E238070D" }
const rows = [
  {
    tag: "Swap",
    kind: "swap",
    stored: { _tag: "Swap", ...place, sell: baseUsdc.assetId, buy: baseWeth.assetId, amountRaw: "7", slippageBps: null }
  },
  {
    tag: "Swap",
    kind: "swap",
    stored: {
      _tag: "Swap",
      ...place,
      sell: baseUsdc.assetId,
      buy: baseWeth.assetId,
      amountRaw: "7",
      slippageBps: 30,
      route: { tool: "pools", step: { calls: [] }, minRaw: "6" }
    }
  },
  {
    tag: "Calls",
    kind: "execute",
    stored: { _tag: "Calls", ...place, calls: [{ to: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", data: "0x12" }] }
  }
] as const

const decode = Schema.decodeUnknownSync(OrderTerms)

describe("orders of actions", () => {
  for (const { kind, stored, tag } of rows) {
    it(`a ${tag}${"route" in stored ? " over a client's route" : ""} is read, and stored as it was`, () => {
      const order = decode(stored)
      assert.strictEqual(order._tag, tag)
      assert.strictEqual(kindOf(order), kind)
      const encoded = Schema.encodeSync(OrderTerms)(order)
      assert.deepStrictEqual<unknown>(encoded, stored)
      assert.deepStrictEqual(decode(encoded), order)
    })
  }

  it("a row that says another kind than its fields have is refused", () =>
    assert.throws(() => decode({ ...rows[0].stored, _tag: "Calls" })))
})

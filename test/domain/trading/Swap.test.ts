/** How a swap is made is tagged by the family of its chain, as it is stored too. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { addressOf, spl } from "#domain/values/Caip.ts"
import {
  assumedExecution,
  issuerExecution,
  type ReadySwap,
  recordedSwap,
  routedExecution,
  Swap
} from "#domain/trading/Swap.ts"
import { baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"

const [usdc, weth, btc] = [baseUsdc.assetId, baseWeth.assetId, baseBtc.assetId]
const [usdcAt, wethAt, btcAt] = [addressOf(usdc), addressOf(weth), addressOf(btc)]
const [dollars, sol] = [
  spl("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"),
  spl("So11111111111111111111111111111111111111112")
]

const overBtc = [usdcAt, btcAt, wethAt]
const terms = { sellAmountRaw: "2500000000", minBuyAmountRaw: "995000000000000000" }
const onBase = { sell: usdc, buy: weth, ...terms }
const onSolana = { sell: dollars, buy: sol, ...terms }
const comparedQuotes = {
  venueRaw: "1",
  routed: { tool: "pools", expectedRaw: "2", gasUsd: "3" },
  reason: "it yields more"
}

/** Each as it is stored, with the execution that it means. */
const rows: ReadonlyArray<readonly [what: string, stored: unknown, execution: Swap["execution"]]> = [
  [
    "on the venue",
    {
      ...onBase,
      expectedBuyRaw: "1",
      execution: { _tag: "Evm", path: overBtc, inputsRaw: ["2500000000", "7"] },
      feeRaw: "7500000",
      comparedQuotes
    },
    { _tag: "Evm", path: overBtc, inputsRaw: [2_500_000_000n, 7n] }
  ],
  [
    "over a route",
    { ...onBase, expectedBuyRaw: "1", execution: { _tag: "Evm", path: overBtc }, tool: "pools", comparedQuotes },
    { _tag: "Evm", path: overBtc }
  ],
  [
    "on Solana",
    { ...onSolana, expectedBuyRaw: "1", execution: { _tag: "Solana" }, feeRaw: null, venue: "jupiter" },
    { _tag: "Solana" }
  ]
]

const codec = Schema.toCodecJson(Swap)
const decode = Schema.decodeUnknownSync(codec)
const encode = Schema.encodeSync(codec)

describe("a stored swap", () => {
  it.each(rows)("%s is read, and written as it was", (_, stored, execution) => {
    const swap = decode(stored)
    assert.deepStrictEqual(swap.execution, execution)
    assert.deepStrictEqual(encode(swap), stored)
  })

  it("has neither a route's call nor an issuer's", () => {
    const pair = { sell: usdc, buy: weth }
    const venue = { _tag: "Evm", path: overBtc, inputsRaw: [5n, 7n] } as const
    const routed = routedExecution(venue, { contract: btcAt, data: "0xabcd" })
    assert.deepStrictEqual(routed, { _tag: "Evm", path: overBtc, call: { contract: btcAt, data: "0xabcd" } })
    const direct = issuerExecution(pair, { venue: btcAt, data: "0xabcd" })
    assert.deepStrictEqual(direct, { _tag: "Evm", path: [usdcAt, wethAt], direct: { venue: btcAt, data: "0xabcd" } })
    for (const [execution, path] of [
      [routed, overBtc],
      [direct, [usdcAt, wethAt]]
    ] as const) {
      const ready: ReadySwap = { ...pair, sellAmountRaw: 5n, minBuyAmountRaw: 1n, execution }
      const recorded = recordedSwap(ready)
      assert.deepStrictEqual(recorded, { ...ready, execution: { _tag: "Evm", path } })
      for (const swap of [ready, recorded])
        assert.deepStrictEqual(encode(swap), {
          ...pair,
          sellAmountRaw: "5",
          minBuyAmountRaw: "1",
          execution: { _tag: "Evm", path }
        })
    }
  })

  it("without a quote goes over one pool of both tokens, on the chain of its family", () => {
    const [evm, solana] = [assumedExecution({ sell: usdc, buy: weth }), assumedExecution({ sell: dollars, buy: sol })]
    assert.deepStrictEqual(evm, { _tag: "Evm", path: [usdcAt, wethAt] })
    assert.deepStrictEqual(solana, { _tag: "Solana" })
  })

  it("on Solana has no call of a contract", () =>
    assert.throws(() => routedExecution({ _tag: "Solana" }, { contract: btcAt, data: "0x" }), "one on Solana"))
})

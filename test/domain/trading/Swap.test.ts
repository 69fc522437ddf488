/** How a swap is made is tagged in memory, and stored under the keys that it always had. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { addressOf, spl } from "#domain/values/Caip.ts"
import {
  assumedExecution,
  issuerExecution,
  poolCount,
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

const terms = `"sellAmountRaw":"2500000000","minBuyAmountRaw":"995000000000000000"`
const onBase = `"sell":"${usdc}","buy":"${weth}",${terms}`
const onSolana = `"sell":"${dollars}","buy":"${sol}",${terms}`
const routedTerms = `{"tool":"pools","expectedRaw":"2","gasUsd":"3"}`
const offers = `"offers":{"venueRaw":"1","routed":${routedTerms},"reason":"it yields more"}`
const solanaPath = `"path":["${addressOf(dollars)}","${addressOf(sol)}"]`
const overBtc = [usdcAt, btcAt, wethAt]
const directPath = `"path":["${usdcAt}","${wethAt}"]`
const btcPath = `"path":["${overBtc.join('","')}"]`

/** Texts as they were stored, each with the execution that it means. */
const rows: ReadonlyArray<readonly [what: string, text: string, execution: Swap["execution"]]> = [
  ["before there were routes", `{${onBase},${directPath}}`, { _tag: "Evm", path: [usdcAt, wethAt] }],
  [
    "before fees of venues were kept",
    `{${onBase},"expectedBuyRaw":"1",${btcPath},"inputsRaw":["2500000000","7"]}`,
    { _tag: "Evm", path: overBtc, inputsRaw: [2_500_000_000n, 7n] }
  ],
  [
    "on the venue",
    `{${onBase},"expectedBuyRaw":"1",${directPath},"inputsRaw":["2500000000"],"feeRaw":"7500000",${offers}}`,
    { _tag: "Evm", path: [usdcAt, wethAt], inputsRaw: [2_500_000_000n] }
  ],
  [
    "over a route",
    `{${onBase},"expectedBuyRaw":"1",${btcPath},"tool":"pools",${offers}}`,
    { _tag: "Evm", path: overBtc }
  ],
  [
    "with an issuer",
    `{${onBase},"expectedBuyRaw":"1",${directPath},"tool":"ondo"}`,
    { _tag: "Evm", path: [usdcAt, wethAt] }
  ],
  [
    "on Solana, before fees of venues were kept",
    `{${onSolana},"expectedBuyRaw":"1",${solanaPath}}`,
    { _tag: "Solana" }
  ],
  ["on Solana", `{${onSolana},"expectedBuyRaw":"1",${solanaPath},"feeRaw":null,"venue":"jupiter"}`, { _tag: "Solana" }]
]

const codec = Schema.toCodecJson(Swap)
const decode = Schema.decodeUnknownSync(codec)
const encode = Schema.encodeSync(codec)

describe("a stored swap", () => {
  it.each(rows)("%s is read, and written byte for byte as it was", (_, text, execution) => {
    const swap = decode(JSON.parse(text))
    assert.deepStrictEqual(swap.execution, execution)
    assert.doesNotHaveAnyKeys(swap, ["path", "inputsRaw", "offers"])
    assert.strictEqual(JSON.stringify(encode(swap)), text)
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
        assert.deepStrictEqual(encode(swap), { ...pair, sellAmountRaw: "5", minBuyAmountRaw: "1", path })
    }
  })

  it("without a quote goes over one pool of both tokens, on the chain of its family", () => {
    const [evm, solana] = [assumedExecution({ sell: usdc, buy: weth }), assumedExecution({ sell: dollars, buy: sol })]
    assert.deepStrictEqual(evm, { _tag: "Evm", path: [usdcAt, wethAt] })
    assert.deepStrictEqual(solana, { _tag: "Solana" })
    const counted = [evm, solana, { _tag: "Evm", path: overBtc } as const].map((execution) =>
      poolCount({ sell: usdc, buy: weth, sellAmountRaw: 5n, minBuyAmountRaw: 1n, execution })
    )
    assert.deepStrictEqual(counted, [1, 1, 2])
  })

  it("on Solana has no call of a contract", () =>
    assert.throws(() => routedExecution({ _tag: "Solana" }, { contract: btcAt, data: "0x" }), "one on Solana"))
})

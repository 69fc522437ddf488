/** What an action's operation says that it did. */
import { assert, describe, it } from "@effect/vitest"
import { resultOfOrder } from "#domain/order/resultOfOrder.ts"
import { assumedExecution } from "#domain/trading/Swap.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"

const chainId = baseUsdc.chainId
const hash = (byte: string) => `0x${byte.repeat(32)}`

const swap = {
  sell: baseUsdc.assetId,
  buy: baseWeth.assetId,
  sellAmountRaw: 1_000_000n,
  minBuyAmountRaw: 390n,
  execution: assumedExecution({ sell: baseUsdc.assetId, buy: baseWeth.assetId }),
  feeRaw: 3_000n
}

const receipt = {
  actionHash: hash("aa"),
  txHash: hash("bb"),
  blockNumber: 7n,
  blockHash: hash("cc"),
  success: true,
  gasUsed: 250_000n,
  deltas: [
    { assetId: baseUsdc.assetId, raw: -1_000_000n },
    { assetId: baseWeth.assetId, raw: 400n }
  ]
}

const transaction = (success: boolean) => ({
  txHash: receipt.txHash,
  userOpHash: receipt.actionHash,
  success,
  gasUsed: 250_000n,
  gasUsd: 5n
})

describe("the result of an action", () => {
  it("names what a swap sold, its minimum, what it brought, the venue's fee and all gas", () => {
    const transactions = [transaction(false), transaction(true)]
    const { outcome, result } = resultOfOrder({
      chainId,
      transactions,
      outcome: { chainId, swap, receipt },
      failure: null
    })
    assert.strictEqual(outcome, "traded")
    assert.deepStrictEqual(result.chains[0]!.swaps, [
      {
        sell: swap.sell,
        buy: swap.buy,
        soldRaw: 1_000_000n,
        minOutRaw: 390n,
        receivedRaw: 400n,
        feeRaw: 3_000n,
        by: "venue"
      }
    ])
    assert.deepStrictEqual(result.chains[0]!.transactions, transactions)
    assert.strictEqual(result.gasUsd, 10n)
    assert.isNull(result.tradingUsd)
  })

  it("of a provider's route has no fee, of an integrator's calls no swap", () => {
    const routed = { chainId, swap: { ...swap, tool: "paraswap" }, receipt }
    const facts = { chainId, transactions: [transaction(true)], failure: null }
    assert.isNull(resultOfOrder({ ...facts, outcome: routed }).result.chains[0]!.swaps[0]!.feeRaw)
    const calls = resultOfOrder({ ...facts, outcome: { chainId, receipt } })
    assert.strictEqual(calls.outcome, "traded")
    assert.deepStrictEqual(calls.result.chains[0]!.swaps, [])
  })

  it("that moved nothing says why", () => {
    const failure = "the price moved"
    const { outcome, result } = resultOfOrder({ chainId, transactions: [], outcome: null, failure })
    assert.strictEqual(outcome, "skipped")
    assert.strictEqual(result.chains[0]!.failure, failure)
  })
})

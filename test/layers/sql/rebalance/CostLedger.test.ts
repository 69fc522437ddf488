/** What runs have cost and sold, as their reports say it. */
import { assert } from "@effect/vitest"
import { type DateTime, Effect, Schema } from "effect"
import { addressOf, type ChainId, chainIdOf, spl } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { CostLedger } from "#domain/rebalance/plan/CostLedger.ts"
import { type ChainOutcome, RunReport } from "#domain/rebalance/RunReport.ts"
import { RunStore } from "#domain/rebalance/RunStore.ts"
import { eachDatabase } from "#test/support/database.ts"
import { baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"
import type { Swap } from "#domain/trading/Swap.ts"
import { after, submit, world } from "#test/layers/sql/fixtures.ts"

const encode = Schema.encodeSync(Schema.toCodecJson(RunReport))
const bytes32 = `0x${"1".repeat(64)}`

const [usdc, weth, btc] = [baseUsdc.assetId, baseWeth.assetId, baseBtc.assetId]

/** Half of it over one pool, half over two, of which the second takes twice as many units. */
const swapsOf = (soldRaw: bigint): ReadonlyArray<Swap> => {
  const swap = { sell: usdc, buy: btc, sellAmountRaw: soldRaw, minBuyAmountRaw: 1n }
  return [
    { ...swap, execution: { _tag: "Evm", path: [usdc, btc].map(addressOf), inputsRaw: [soldRaw] } },
    {
      ...swap,
      execution: { _tag: "Evm", path: [usdc, weth, btc].map(addressOf), inputsRaw: [soldRaw, 2n * soldRaw] }
    }
  ]
}

const outcome = (
  { costUsd, soldRaw }: { readonly soldRaw: bigint; readonly costUsd: bigint },
  success: boolean,
  swaps = swapsOf(soldRaw)
): ChainOutcome => ({
  chainId: 8453 as ChainId,
  swaps,
  skips: [],
  measures: { worth: { benefitUsd: 2n * costUsd, costUsd, gasUsd: 0n }, bands: [] },
  receipt: {
    actionHash: bytes32,
    txHash: bytes32,
    blockNumber: 1n,
    blockHash: null,
    success,
    gasUsed: 1n,
    deltas: []
  } as ChainOutcome["receipt"],
  failure: null
})

/** Makes a portfolio whose runs have ended with these outcomes of chains, one run each. */
const finish = Effect.fnUntraced(function* (
  { portfolioId, tenantId }: Effect.Success<ReturnType<typeof world>>,
  at: DateTime.Utc,
  chains: ReadonlyArray<ChainOutcome>
) {
  const { operationId } = yield* submit(tenantId, portfolioId)
  yield* (yield* OperationStore).transition({ operationId, to: "running", at, error: null })
  const report = encode({ strategyVersion: 1, chains })
  yield* (yield* RunStore).finish({ operationId, strategyVersion: 1, at, error: null, report })
})

eachDatabase("CostLedger", (it) => {
  it.effect("adds up what landed since then, of each portfolio by itself, and what was sold into each pool", () =>
    Effect.gen(function* () {
      const ledger = yield* CostLedger
      const one = yield* world()
      const other = yield* world()
      yield* finish(one, after(1), [outcome({ soldRaw: 100n, costUsd: Decimal.one }, true)])
      yield* finish(one, after(200), [
        outcome({ soldRaw: 10n, costUsd: 2n * Decimal.one }, true),
        outcome({ soldRaw: 7n, costUsd: 5n * Decimal.one }, false)
      ])
      yield* finish(one, after(300), [outcome({ soldRaw: 1n, costUsd: 4n * Decimal.one }, true)])
      yield* finish(other, after(300), [outcome({ soldRaw: 55n, costUsd: 8n * Decimal.one }, true)])
      const ids = [one.portfolioId, other.portfolioId]
      const spent = yield* ledger.spent(ids, after(100))
      assert.deepStrictEqual(
        [spent.get(one.portfolioId), spent.get(other.portfolioId)],
        [6n * Decimal.one, 8n * Decimal.one]
      )
      const sold = yield* ledger.sold(ids, after(100))
      const soldInto = (raw: bigint) => [
        { sell: weth, buy: btc, raw: 2n * raw },
        { sell: usdc, buy: weth, raw },
        { sell: usdc, buy: btc, raw }
      ]
      assert.deepStrictEqual(sold.get(one.portfolioId), soldInto(11n))
      assert.deepStrictEqual(sold.get(other.portfolioId), soldInto(55n))
      assert.strictEqual((yield* ledger.spent(ids, after(400))).size, 0)
      // Where the venue did not say what went into each pool, what went into the first is known.
      const [, second] = swapsOf(9n)
      const before: Swap = { ...second!, execution: { _tag: "Evm", path: [usdc, weth, btc].map(addressOf) } }
      yield* finish(other, after(500), [outcome({ soldRaw: 9n, costUsd: Decimal.one }, true, [before])])
      assert.deepStrictEqual((yield* ledger.sold(ids, after(450))).get(other.portfolioId), [
        { sell: usdc, buy: weth, raw: 9n }
      ])
    })
  )

  it.effect("counts what was sold on Solana beside what was sold on EVM chains", () =>
    Effect.gen(function* () {
      const [usd, sol] = [
        spl("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"),
        spl("So11111111111111111111111111111111111111112")
      ]
      const [one, other] = [yield* world(), yield* world()]
      const execution = { _tag: "Solana" } as const
      const swap = { sell: usd, buy: sol, sellAmountRaw: 5n, minBuyAmountRaw: 1n, execution }
      yield* finish(one, after(1), [
        { ...outcome({ soldRaw: 5n, costUsd: 0n }, true, [swap]), chainId: chainIdOf(usd) }
      ])
      yield* finish(other, after(1), [outcome({ soldRaw: 7n, costUsd: 0n }, true, swapsOf(7n).slice(0, 1))])
      const sold = yield* (yield* CostLedger).sold([one.portfolioId, other.portfolioId], after(0))
      assert.deepStrictEqual(sold.get(one.portfolioId), [{ sell: usd, buy: sol, raw: 5n }])
      assert.deepStrictEqual(sold.get(other.portfolioId), [{ sell: usdc, buy: btc, raw: 7n }])
    })
  )
})

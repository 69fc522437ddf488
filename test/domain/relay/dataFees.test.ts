/** What a rollup charges for data, in all that is said and decided about costs. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import * as Decimal from "#domain/values/Decimal.ts"
import { GasBudget } from "#domain/relay/GasBudget.ts"
import { GasLedger } from "#domain/relay/GasLedger.ts"
import { countedGas, expectedShare, maxNative, paidNative } from "#domain/relay/Transaction.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"
import { testSettingsWith } from "#test/support/settings.ts"
import { TestChain, TestChains } from "#test/support/chains/TestChains.ts"

/** Receipt as on Base on a calm day: execution costs twice what data does. */
const paid = { gasUsed: 325_000n, gasPriceRaw: 6_000_000n, dataFeeRaw: 1_000_000_000_000n }
const cost = {
  _tag: "Evm" as const,
  chainId: baseUsdc.chainId,
  gasLimit: 900_000n,
  maxFeePerGas: 12_000_000n,
  dataFee: 1_000_000_000_000n
}

describe("the fee of a rollup's data", () => {
  it("is in what was paid and in what counts towards budgets", () => {
    assert.strictEqual(paidNative(paid), 2_950_000_000_000n)
    assert.strictEqual(countedGas(paid), 325_000n + 166_666n)
    assert.strictEqual(countedGas({ gasUsed: 7n }), 7n)
    assert.isUndefined(paidNative({ gasUsed: 7n, dataFeeRaw: 1n }))
  })

  it("is in what a transaction may cost, twice, and in what it is expected to cost, whole", () => {
    assert.strictEqual(maxNative(cost), 12_800_000_000_000n)
    assert.strictEqual(expectedShare(cost, maxNative(cost)), 4_600_000_000_000n)
    const { dataFee: _dataFee, ...plain } = cost
    assert.strictEqual(expectedShare(plain, maxNative(plain)), 3_600_000_000_000n)
  })

  it.live("is in US dollars of both, and makes a trade not worth it that its gas alone would not", () =>
    Effect.gen(function* () {
      const { paidUsd, waste } = yield* GasBudget
      const market = yield* TestChain
      market.prices.set(baseWeth.assetId, 2_500n * Decimal.one)
      const usd = Option.getOrThrow(yield* paidUsd(baseUsdc.chainId, paid))
      assert.strictEqual(Decimal.format(usd, 6), "0.007375")
      // A quarter of it may be spent: 0.032 dollars with the data, 0.027 without.
      const traded = (12n * Decimal.one) / 100n
      assert.isTrue(Option.isSome(yield* waste(cost, traded)))
      const { dataFee: _dataFee, ...plain } = cost
      assert.isTrue(Option.isNone(yield* waste(plain, traded)))
    }).pipe(
      Effect.provide(
        GasBudget.layer.pipe(
          Layer.provide(
            Layer.succeed(GasLedger, { spent: () => Effect.succeed({ portfolio: 0n, tenant: 0n, owner: 0n }) })
          ),
          Layer.provide(testSettingsWith({ natives: new Map([[baseUsdc.chainId, baseWeth.assetId]]) })),
          Layer.provideMerge(TestChains)
        )
      )
    )
  )
})

/** Batches that are not prepared because of their gas. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Metric, Option } from "effect"
import { solanaChainId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import { GasBudget } from "#domain/relay/GasBudget.ts"
import { GasLedger } from "#domain/relay/GasLedger.ts"
import { BatchPreparer } from "#domain/rebalance/BatchPreparer.ts"
import {
  attempt,
  context,
  funded,
  gasOfDay,
  nothingLeft,
  planOf,
  prepared,
  Preparer,
  preparerFor,
  usdcLeg
} from "#test/domain/rebalance/preparing.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"
import { setPrices } from "#test/support/enrolledPortfolio.ts"
import { testSettings, testSettingsWith } from "#test/support/settings.ts"
import { TestChain, TestChains } from "#test/support/chains/TestChains.ts"

const none = { portfolio: 0n, tenant: 0n, owner: 0n }

/** Gas on Base is paid in ether, whose price is known. */
const pricedGas = { natives: new Map([[baseUsdc.chainId, baseWeth.assetId]]) }
/** Refusals to pay for gas that were counted so far. */
const refusals = (scope: "portfolio" | "tenant" | "value") =>
  Effect.map(Metric.value(Metric.withAttributes(Metrics.gasRefusals, { scope })), ({ count }) => Number(count))

describe("the gas of a batch", () => {
  it.live("prepares nothing once the day's gas of the portfolio or its tenant is used up, says so and counts it", () =>
    Effect.gen(function* () {
      yield* funded
      const { gas } = testSettings
      for (const [used, scope] of [
        [{ portfolio: gas.portfolioPerDay, tenant: 0n }, "portfolio"],
        [{ portfolio: 0n, tenant: gas.tenantPerDay }, "tenant"]
      ] as const) {
        const before = yield* refusals(scope)
        Object.assign(gasOfDay, used)
        const preparation = yield* prepared(1, 0)
        Object.assign(gasOfDay, none)
        assert.strictEqual(preparation._tag, "Nothing")
        assert.include(
          preparation._tag === "Nothing" && preparation.failure,
          `the ${scope}'s gas of this day is used up`
        )
        assert.deepStrictEqual(
          preparation.skips.map(({ code }) => code),
          ["GAS_REFUSED"]
        )
        assert.strictEqual(yield* refusals(scope), before + 1)
      }
      // What owners signed uses up nothing of it.
      Object.assign(gasOfDay, {
        portfolio: gas.portfolioPerDay - 1n,
        tenant: gas.tenantPerDay - 1n,
        owner: gas.ownerPerDay
      })
      assert.strictEqual((yield* prepared(1, 0))._tag, "Ready")
      Object.assign(gasOfDay, none)
    }).pipe(Effect.provide(Preparer))
  )

  it.live("makes no trade whose gas may cost more than the share of its value", () =>
    Effect.gen(function* () {
      const { waste } = yield* GasBudget
      const market = yield* TestChain
      market.prices.set(baseWeth.assetId, 2_500n * Decimal.one)
      // 3.5 million gas at 0.1 gwei is 0.00035 ether, 87.5 cents; a quarter of what is traded may be spent.
      const first = {
        _tag: "Evm" as const,
        chainId: baseUsdc.chainId,
        gasLimit: 3_500_000n,
        maxFeePerGas: 100_000_000n
      }
      assert.isTrue(Option.isNone(yield* waste(first, (35n * Decimal.one) / 10n)))
      const refused = yield* waste(first, (35n * Decimal.one) / 10n - 1n)
      assert.include(Option.getOrThrow(refused), "gas may cost $0.87")
      assert.isTrue(Option.isSome(yield* waste(first, Decimal.one / 50n)))
      market.arePricesKnown = false
      assert.isTrue(Option.isNone(yield* waste(first, 1n)))
      market.arePricesKnown = true
    }).pipe(
      Effect.provide(
        GasBudget.layer.pipe(
          Layer.provide(Layer.succeed(GasLedger, { spent: () => Effect.succeed(none) })),
          Layer.provide(testSettingsWith(pricedGas)),
          Layer.provideMerge(TestChains)
        )
      )
    )
  )

  it.live(
    "makes no transaction that may cost more than a transaction of its chain, and holds both limits in ether",
    () =>
      Effect.gen(function* () {
        const { ceilings, waste } = yield* GasBudget
        const market = yield* TestChain
        market.prices.set(baseWeth.assetId, 2_500n * Decimal.one)
        // 4 million gas at 1 gwei is 0.004 ether, the ten dollars that a transaction may cost.
        const most = {
          _tag: "Evm",
          chainId: baseUsdc.chainId,
          gasLimit: 4_000_000n,
          maxFeePerGas: 1_000_000_000n
        } as const
        const value = 1_000n * Decimal.one
        assert.isTrue(Option.isNone(yield* waste(most, value)))
        assert.isTrue(Option.isNone(yield* waste(most, null)))
        const dearer = { ...most, maxFeePerGas: 1_000_000_001n }
        for (const traded of [value, null])
          assert.include(Option.getOrThrow(yield* waste(dearer, traded)), "may cost $10.00")
        // A quarter of a thousand dollars is 0.1 ether.
        const inEther = { costCeiling: 4n * 10n ** 15n, feeCeiling: 25_000_000_000n }
        assert.deepStrictEqual(yield* ceilings(most, value), inEther)
        assert.deepStrictEqual(yield* ceilings(most, null), { costCeiling: inEther.costCeiling })
        const withData = { ...most, dataFee: 10n ** 15n }
        assert.strictEqual((yield* ceilings(withData, value)).feeCeiling, 24_500_000_000n)
        market.arePricesKnown = false
        assert.deepStrictEqual(yield* ceilings(most, value), {})
        assert.isTrue(Option.isNone(yield* waste(dearer, null)))
        market.arePricesKnown = true
      }).pipe(
        Effect.provide(
          GasBudget.layer.pipe(
            Layer.provide(Layer.succeed(GasLedger, { spent: () => Effect.succeed(none) })),
            Layer.provide(
              testSettingsWith({
                ...pricedGas,
                gas: { ...testSettings.gas, ceilingsUsd: new Map([[baseUsdc.chainId, 10n * Decimal.one]]) }
              })
            ),
            Layer.provideMerge(TestChains)
          )
        )
      )
  )

  it.live("an action is expected to cost what its family answers: on Solana no share of the most", () =>
    Effect.gen(function* () {
      const { expectedUsd } = yield* GasBudget
      const market = yield* TestChain
      market.prices.set(baseWeth.assetId, 2_500n * Decimal.one)
      const centsOf = (usd: Option.Option<bigint>) => Option.getOrThrow(usd) / (Decimal.one / 100n)
      // 0.00036 ether are 90 cents at most.
      const transaction = {
        _tag: "Evm" as const,
        chainId: baseUsdc.chainId,
        gasLimit: 3_600_000n,
        maxFeePerGas: 100_000_000n
      }
      assert.strictEqual(centsOf(yield* expectedUsd(transaction)), 30n)
      // 0.36 million lamports of 10^9 wei are as much; rents and fees of recent blocks are 0.3 million of them.
      const steps = { _tag: "Solana", chainId: solanaChainId, maxLamports: 360_000n, lamportNative: 10n ** 9n } as const
      assert.strictEqual(centsOf(yield* expectedUsd({ ...steps, expectedLamports: 300_000n })), 75n)
      // Steps from before it was kept.
      assert.strictEqual(centsOf(yield* expectedUsd(steps)), 90n)
    }).pipe(
      Effect.provide(
        GasBudget.layer.pipe(
          Layer.provide(Layer.succeed(GasLedger, { spent: () => Effect.succeed(none) })),
          Layer.provide(
            testSettingsWith({
              natives: new Map([
                [baseUsdc.chainId, baseWeth.assetId],
                [solanaChainId, baseWeth.assetId]
              ])
            })
          ),
          Layer.provideMerge(TestChains)
        )
      )
    )
  )

  it.live("prepares no batch that is not worth its gas, says so and counts it", () =>
    Effect.gen(function* () {
      yield* funded
      // A batch here may use one unit of gas at one wei: 2,500 units of a wad. A quarter of what is traded may be
      // spent.
      const worth = (valueUsd: bigint) => prepared(1, 0, [{ ...usdcLeg, valueUsd }])
      assert.strictEqual((yield* worth(10_000n))._tag, "Ready")
      const before = yield* refusals("value")
      const refused = yield* worth(9_999n)
      assert.deepInclude(refused, { _tag: "Nothing", failure: null })
      assert.deepStrictEqual(
        refused.skips.map(({ code }) => code),
        ["GAS_REFUSED"]
      )
      assert.strictEqual(yield* refusals("value"), before + 1)
    }).pipe(Effect.provide(preparerFor(context, nothingLeft, { settings: pricedGas })))
  )

  it.live(
    "weighs trades by a policy again with the gas of the operation itself, and names both figures where it is too much",
    () =>
      Effect.gen(function* () {
        yield* funded
        yield* setPrices
        const preparer = yield* BatchPreparer
        // One unit of gas at one wei costs 2,500 units of a wad at most, and a third of that as expected: 833 instead
        // of 800.
        const prepare = Effect.fnUntraced(function* (benefitUsd: bigint, gasUsd: bigint) {
          const plan = planOf(yield* DateTime.now, [usdcLeg])
          const measures = { worth: { benefitUsd, costUsd: 200n + gasUsd, gasUsd }, bands: [] }
          const chains = plan.chains.map((chain) => ({ ...chain, measures }))
          return yield* preparer.prepare(attempt(1), { ...plan, chains }, false)
        })
        const refused = yield* prepare(1_033n, 800n)
        assert.deepInclude(refused, { _tag: "Nothing", failure: null })
        assert.deepInclude(refused.skips[0], { assetId: null, code: "NOT_WORTH_COST", valueUsd: 1_033n })
        assert.match(refused.skips[0]!.reason, /drift worth .* USD and cost .* USD, gas of .* USD included/u)
        assert.strictEqual((yield* prepare(1_034n, 800n))._tag, "Ready")
        // Gas that was planned with is not weighed twice.
        assert.strictEqual((yield* prepare(1_033n, 833n))._tag, "Ready")
      }).pipe(Effect.provide(preparerFor(context, nothingLeft, { settings: pricedGas })))
  )
})

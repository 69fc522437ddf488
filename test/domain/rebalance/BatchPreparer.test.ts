/** Tests when a plan may be acted on as it is, and what happens when the batch does not pass its simulation. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import * as Decimal from "#domain/values/Decimal.ts"
import { BatchPreparer } from "#domain/rebalance/BatchPreparer.ts"
import type { Preparation } from "#domain/rebalance/Preparation.ts"
import { type TransferConstraint, RunPlanner } from "#domain/rebalance/plan/RunPlanner.ts"
import type { RunContext } from "#domain/rebalance/RunStore.ts"
import { assumedExecution } from "#domain/trading/Swap.ts"
import type { Venue } from "#domain/trading/Venue.ts"
import {
  account,
  attempt,
  btcLeg,
  context,
  funded,
  nothingLeft,
  planOf,
  prepared,
  Preparer,
  preparerFor,
  sameAgain,
  cleared,
  usdcLeg
} from "#test/domain/rebalance/preparing.ts"
import { arbUsdc, baseBtc, baseUsdc } from "#test/support/assets.ts"
import { setPrices } from "#test/support/enrolledPortfolio.ts"
import { TestChain } from "#test/support/chains/TestChains.ts"
import { addressOf, evmPolicy } from "#layers/evm/address.ts"

/** Pays what the legs expect for the first swap, and a hundredth less for each one that is made before. */
const shallow: Venue["Service"] = {
  assumedFeeBps: () => 30,
  quote: ({ requests }) =>
    Effect.succeed(
      requests.map(({ buy, sell }, index) => {
        const { expectedBuyRaw } = sell === usdcLeg.sell ? usdcLeg : btcLeg
        const buyAmountRaw = (expectedBuyRaw * BigInt(100 - index)) / 100n
        return {
          buyAmountRaw,
          execution: assumedExecution({ sell, buy }),
          priceImpactBps: 0,
          feeRaw: null,
          furtherFeeBps: 0
        }
      })
    )
}

/** The portfolio of an owner who allowed routes. */
const [grant] = context.grants
const [chain] = grant!.authorization.chains
const routedContext: RunContext = {
  ...context,
  grants: [
    {
      ...grant!,
      authorization: {
        ...grant!.authorization,
        chains: [{ ...chain, policy: { ...evmPolicy(chain), routedSwap: addressOf(baseBtc.assetId) } }]
      }
    }
  ]
}
const RoutedPreparer = preparerFor(routedContext, sameAgain)

/** The portfolio of an owner who let USDC leave for Arbitrum. */
const destinations = [{ chainId: arbUsdc.chainId, token: addressOf(arbUsdc.assetId) }] as const
const bridge = { contract: addressOf(baseBtc.assetId), token: addressOf(baseUsdc.assetId), destinations }
const bridgingContext: RunContext = {
  ...context,
  grants: [
    {
      ...grant!,
      authorization: { ...grant!.authorization, chains: [{ ...chain, policy: { ...evmPolicy(chain), bridge } }] }
    }
  ]
}
const constraints: Array<TransferConstraint | undefined> = []
const BridgingPreparer = preparerFor(
  bridgingContext,
  Layer.succeed(RunPlanner, {
    plan: (_: unknown, constraint?: TransferConstraint) => {
      constraints.push(constraint)
      return Effect.map(DateTime.now, (now) => planOf(now, []))
    },
    preview: () => Effect.map(DateTime.now, (now) => planOf(now, []))
  })
)
const transfer = {
  sell: baseUsdc.assetId,
  buy: arbUsdc.assetId,
  amountRaw: 5_000_000_000n,
  valueUsd: 5_000n * Decimal.one,
  expectedRaw: 4_995_000_000n
}

describe("BatchPreparer", () => {
  it.live("acts on a plan that is fresh", () =>
    Effect.gen(function* () {
      yield* funded
      assert.strictEqual((yield* prepared(1, 119))._tag, "Ready")
    }).pipe(Effect.provide(Preparer))
  )

  it.live("makes an aged plan anew, and one that was acted on before", () =>
    Effect.gen(function* () {
      yield* funded
      assert.strictEqual((yield* prepared(1, 125))._tag, "Nothing")
      assert.strictEqual((yield* prepared(2, 0))._tag, "Nothing")
    }).pipe(Effect.provide(Preparer))
  )

  it.live("leaves out the swap that fails its simulation and keeps the others", () =>
    Effect.gen(function* () {
      yield* funded
      const preparation = yield* prepared(1, 0, [usdcLeg, btcLeg])
      assert.strictEqual(preparation._tag, "Ready")
      assert.deepStrictEqual(preparation._tag === "Ready" && preparation.swaps.map(({ sell }) => sell), [
        baseUsdc.assetId
      ])
      assert.deepStrictEqual(
        preparation.skips.map(({ code, sell }) => [code, sell]),
        [["SIMULATION_FAILED", baseBtc.assetId]]
      )
    }).pipe(Effect.provide(Preparer))
  )

  it.live("quotes the others anew when a swap fails its simulation: it leaves no trace in their minimums", () =>
    Effect.gen(function* () {
      yield* funded
      const [alone, beside] = [yield* prepared(1, 0, [usdcLeg]), yield* prepared(1, 0, [btcLeg, usdcLeg])]
      assert.isTrue(alone._tag === "Ready" && beside._tag === "Ready")
      if (alone._tag !== "Ready" || beside._tag !== "Ready") return
      assert.deepStrictEqual(beside.swaps, alone.swaps)
      assert.deepStrictEqual(
        beside.skips.map(({ code, sell }) => [code, sell]),
        [["SIMULATION_FAILED", baseBtc.assetId]]
      )
    }).pipe(Effect.provide(preparerFor(context, nothingLeft, { venue: shallow })))
  )

  it.live("leaves out the swap whose price is not attested, with code and figures, and keeps the others", () =>
    Effect.gen(function* () {
      yield* funded
      const market = yield* TestChain
      market.fund(account, baseBtc.assetId, 10_000_000n)
      market.unattested.add(baseBtc.assetId)
      const preparation = yield* prepared(1, 0, [usdcLeg, btcLeg])
      assert.deepStrictEqual(preparation._tag === "Ready" && preparation.swaps.map(({ sell }) => sell), [
        baseUsdc.assetId
      ])
      const reason = `${baseBtc.assetId}: No attested price (STALE): the price is 700 s old; 2500.00 USD are not traded`
      assert.deepStrictEqual(preparation.skips, [
        {
          assetId: null,
          sell: btcLeg.sell,
          buy: btcLeg.buy,
          code: "PRICE_NOT_ATTESTED",
          valueUsd: btcLeg.valueUsd,
          reason
        }
      ])
      const alone = yield* prepared(1, 0, [btcLeg])
      assert.strictEqual(alone._tag, "Nothing")
      assert.deepStrictEqual(
        alone.skips.map(({ code }) => code),
        ["PRICE_NOT_ATTESTED"]
      )
    }).pipe(Effect.provide(Preparer))
  )

  it.live("reports that the owner must sign anew, and settles it once the chain accepts the agent", () =>
    Effect.gen(function* () {
      yield* funded
      const market = yield* TestChain
      cleared.length = 0
      market.revoked.add(`${account} 0x00000001`)
      const refused = yield* prepared(1, 0)
      assert.strictEqual(refused._tag, "Unsigned")
      assert.strictEqual(refused._tag === "Unsigned" && refused.cause, "permission_revoked")
      assert.deepStrictEqual(cleared, [])
      market.revoked.clear()
      assert.strictEqual((yield* prepared(1, 0))._tag, "Ready")
      assert.deepStrictEqual(cleared, [baseUsdc.chainId])
    }).pipe(Effect.provide(Preparer))
  )

  it.live("has nothing, and says why, when every swap fails", () =>
    Effect.gen(function* () {
      const preparation = yield* prepared(1, 0)
      assert.strictEqual(preparation._tag, "Nothing")
      assert.include(
        preparation._tag === "Nothing" ? (preparation.failure ?? "") : "",
        "Simulation on chain 8453 failed"
      )
    }).pipe(Effect.provide(Preparer))
  )

  /** The one swap of a preparation, and its tool. */
  const swapOf = (preparation: Preparation) => {
    assert.strictEqual(preparation._tag, "Ready")
    const swaps = preparation._tag === "Ready" ? preparation.swaps : []
    assert.lengthOf(swaps, 1)
    return swaps[0]!
  }

  const routesPayMore = Effect.flatMap(TestChain, (market) => Effect.sync(() => (market.routeAdvantageBps = 20n)))

  it.live("swaps over a route that pays more, and stores the quotes but not the route's calldata", () =>
    Effect.gen(function* () {
      yield* funded
      yield* routesPayMore
      const swap = swapOf(yield* prepared(1, 0))
      assert.strictEqual(swap.tool, "test")
      assert.isAbove(Number(swap.comparedQuotes?.routed?.expectedRaw), Number(swap.comparedQuotes?.venueRaw))
      assert.notProperty(swap, "call")
    }).pipe(Effect.provide(RoutedPreparer))
  )

  it.live(
    "keeps what was to leave, and reports it, when the route of a planned transfer is gone by the time of trading",
    () =>
      Effect.gen(function* () {
        yield* funded
        const market = yield* TestChain
        market.refusal = "it costs too much"
        yield* setPrices
        const [planned] = planOf(yield* DateTime.now, [usdcLeg]).chains
        const plan = { ...planOf(yield* DateTime.now, []), chains: [{ ...planned!, transfers: [transfer] }] }
        const preparer = yield* BatchPreparer
        const preparation = yield* preparer.prepare(attempt(1), plan, false)
        assert.deepStrictEqual(constraints, [{ excludedSource: baseUsdc.chainId }])
        assert.strictEqual(preparation._tag, "Nothing")
        assert.deepStrictEqual(
          preparation.skips.map(({ buy, code, reason }) => [buy, code, reason]),
          [[arbUsdc.assetId, "TRANSFER_REFUSED", "it costs too much; 5000.00 USD stay on their chain"]]
        )
      }).pipe(Effect.provide(BridgingPreparer))
  )

  it.live("keeps what was to leave, planned anew, when the chain refuses the transfer, and sells nothing for it", () =>
    Effect.gen(function* () {
      yield* funded
      constraints.length = 0
      const market = yield* TestChain
      market.bridgeIsPaused = true
      yield* setPrices
      const [planned] = planOf(yield* DateTime.now, [usdcLeg]).chains
      const plan = { ...planOf(yield* DateTime.now, []), chains: [{ ...planned!, transfers: [transfer] }] }
      const preparation = yield* Effect.flatMap(BatchPreparer, (preparer) => preparer.prepare(attempt(1), plan, false))
      assert.deepStrictEqual(constraints, [{ excludedSource: baseUsdc.chainId }])
      assert.strictEqual(preparation._tag, "Nothing")
      assert.deepStrictEqual(
        preparation.skips.map(({ buy, code, reason }) => [buy, code, reason]),
        [[arbUsdc.assetId, "SIMULATION_FAILED", "the bridge is paused; 5000.00 USD are not traded"]]
      )
    }).pipe(Effect.provide(BridgingPreparer))
  )

  it.live("swaps on the venue when the chain refuses the route, and nothing is left out", () =>
    Effect.gen(function* () {
      yield* funded
      yield* routesPayMore
      const market = yield* TestChain
      market.refusesRoutes = true
      const preparation = yield* prepared(1, 0)
      assert.isUndefined(swapOf(preparation).tool)
      assert.isEmpty(preparation.skips)
    }).pipe(Effect.provide(RoutedPreparer))
  )

  it.live("swaps on the venue after an operation over routes was reverted", () =>
    Effect.gen(function* () {
      yield* funded
      yield* routesPayMore
      assert.isUndefined(swapOf(yield* prepared(2, 0)).tool)
    }).pipe(Effect.provide(RoutedPreparer))
  )

  it.live("swaps on the venue under a grant from before routes", () =>
    Effect.gen(function* () {
      yield* funded
      yield* routesPayMore
      const swap = swapOf(yield* prepared(1, 0))
      assert.isUndefined(swap.tool)
      assert.isUndefined(swap.comparedQuotes)
    }).pipe(Effect.provide(Preparer))
  )
})

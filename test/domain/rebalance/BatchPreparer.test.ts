/** When a plan may be acted on as it is, and what happens when the batch does not pass its simulation. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Schema } from "effect"
import { addressOf, evmAccount } from "#domain/Caip.ts"
import * as Decimal from "#domain/Decimal.ts"
import type { OperationId, PortfolioId, TenantId } from "#domain/Ids.ts"
import { BestQuotes } from "#domain/rebalance/BestQuotes.ts"
import { BatchPreparer, Preparation } from "#domain/rebalance/BatchPreparer.ts"
import type { Authorization } from "#domain/enrollment/Authorization.ts"
import type { RunPlan } from "#domain/rebalance/RunPlan.ts"
import { RequiredSignatures } from "#domain/enrollment/RequiredSignatures.ts"
import { RunPlanner } from "#domain/rebalance/RunPlanner.ts"
import { type RunContext, RunStore } from "#domain/rebalance/RunStore.ts"
import { baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { setPrices } from "#test/support/enrolledPortfolio.ts"
import { TransferQuotes } from "#domain/transfer/TransferQuotes.ts"
import { TestSettings } from "#test/support/settings.ts"
import { TestChain, TestChains } from "#test/support/TestChains.ts"

const account = evmAccount(baseUsdc.chainId, addressOf(baseWeth.assetId))
const operationId = "op_01J00000000000000000000000" as OperationId

const context: RunContext = {
  operationId,
  tenantId: "tn_01J00000000000000000000000" as TenantId,
  portfolioId: "pf_01J00000000000000000000000" as PortfolioId,
  strategyVersion: 1,
  allocation: [],
  swap: { slippageBps: null, priceImpactBps: null, thresholdUsd: null },
  tenantSwap: { slippageBps: null, priceImpactBps: null, thresholdUsd: null },
  grants: [
    {
      authorization: {
        accountType: "ECDSA",
        ownerAccountId: `eip155:0:${addressOf(baseWeth.assetId)}` as Authorization["ownerAccountId"],
        withdrawalDomainName: "Ballast Withdrawal Authorization",
        accountIndex: 0n,
        agentAccountId: `eip155:0:${addressOf(baseWeth.assetId)}` as Authorization["agentAccountId"],
        chains: [
          {
            chainId: baseUsdc.chainId,
            accountId: account,
            permissionId: "0x00000001",
            digest: `0x${"aa".repeat(32)}`,
            policy: { router: addressOf(baseWeth.assetId), hubs: [], tokens: [] }
          }
        ],
        root: `0x${"bb".repeat(32)}`
      },
      ownerSignature: "0x"
    }
  ],
  reserved: [],
  awaited: [baseUsdc.chainId]
}

const leg = (sell: typeof baseUsdc, sellAmountRaw: bigint, expectedBuyRaw: bigint) => ({
  sell: sell.assetId,
  buy: baseWeth.assetId,
  sellAmountRaw,
  valueUsd: 2500n * Decimal.one,
  expectedBuyRaw
})
const usdcLeg = leg(baseUsdc, 2_500_000_000n, 997_000_000_000_000_000n)
const btcLeg = leg(baseBtc, 1_000_000n, 239_280_000_000_000_000n)

const planOf = (plannedAt: DateTime.Utc, legs: ReadonlyArray<typeof usdcLeg>): RunPlan => ({
  strategyVersion: 1,
  plannedAt,
  limits: { slippageBps: 50, priceImpactBps: 100 },
  chains: [{ chainId: baseUsdc.chainId, legs, skips: [] }]
})

/** The planner that a preparer asks for a fresh plan: it finds nothing left to do. */
const nothingLeft = Layer.succeed(RunPlanner, { plan: () => Effect.map(DateTime.now, (now) => planOf(now, [])) })
const settled: Array<number> = []
const signatures = Layer.succeed(RequiredSignatures, {
  settle: (_: string, chainId: number) => Effect.sync(() => settled.push(chainId))
} as never as RequiredSignatures["Service"])
/** The same plan again, however old. */
const sameAgain = Layer.succeed(RunPlanner, {
  plan: () => Effect.map(DateTime.now, (now) => planOf(now, [usdcLeg]))
})
const preparerFor = (grantsOf: RunContext, planner: typeof nothingLeft) =>
  BatchPreparer.layer.pipe(
    Layer.provide([
      Layer.succeed(RunStore, {
        context: () => Effect.succeed(Option.some(grantsOf))
      } as never as RunStore["Service"]),
      signatures,
      planner,
      TransferQuotes.layer,
      BestQuotes.layer
    ]),
    Layer.provide(TestSettings),
    Layer.provideMerge(TestChains)
  )
const Preparer = preparerFor(context, nothingLeft)

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
        chains: [{ ...chain, policy: { ...chain.policy, routedSwap: addressOf(baseBtc.assetId) } }]
      }
    }
  ]
}
const RoutedPreparer = preparerFor(routedContext, sameAgain)

const attempt = (number: number) => ({ operationId, chainId: baseUsdc.chainId, attempt: number })

const prepared = Effect.fnUntraced(function* (number: number, ageSeconds: number, legs = [usdcLeg]) {
  yield* setPrices
  const plannedAt = DateTime.subtract(yield* DateTime.now, { seconds: ageSeconds })
  return yield* Effect.flatMap(BatchPreparer, (preparer) => preparer.prepare(attempt(number), planOf(plannedAt, legs)))
})

const funded = Effect.flatMap(TestChain, (market) =>
  Effect.sync(() => market.fund(account, baseUsdc.assetId, 10_000_000_000n))
)

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

  it.live("tells that the owner must sign anew, and settles it once the chain accepts the agent", () =>
    Effect.gen(function* () {
      yield* funded
      const market = yield* TestChain
      settled.length = 0
      market.revoked.add(`${account} 0x00000001`)
      const refused = yield* prepared(1, 0)
      assert.strictEqual(refused._tag, "Unsigned")
      assert.strictEqual(refused._tag === "Unsigned" && refused.cause, "permission_revoked")
      assert.deepStrictEqual(settled, [])
      market.revoked.clear()
      assert.strictEqual((yield* prepared(1, 0))._tag, "Ready")
      assert.deepStrictEqual(settled, [baseUsdc.chainId])
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

  it.live("swaps over a route that pays more, and remembers what was on offer but not the route's calldata", () =>
    Effect.gen(function* () {
      yield* funded
      yield* routesPayMore
      const swap = swapOf(yield* prepared(1, 0))
      assert.strictEqual(swap.tool, "test")
      assert.isAbove(Number(swap.offers?.routed?.expectedRaw), Number(swap.offers?.venueRaw))
      assert.notProperty(swap, "call")
    }).pipe(Effect.provide(RoutedPreparer))
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
      assert.isUndefined(swap.offers)
    }).pipe(Effect.provide(Preparer))
  )

  it("reads preparations from before routes", () => {
    const codec = Schema.toCodecJson(Preparation)
    const stored = {
      _tag: "Ready",
      swaps: [
        {
          sell: usdcLeg.sell,
          buy: usdcLeg.buy,
          sellAmountRaw: "5",
          minBuyAmountRaw: "4",
          path: [addressOf(usdcLeg.sell), addressOf(usdcLeg.buy)]
        }
      ],
      skips: [],
      prepared: {
        chainId: 8453,
        accountId: account,
        subject: `0x${"01".repeat(32)}`,
        to: addressOf(usdcLeg.buy),
        callData: "0x",
        gasLimit: "1",
        maxFeePerGas: "1",
        maxPriorityFeePerGas: "1",
        chainNonce: 0,
        laneNonces: [],
        fromBlock: "1"
      }
    }
    assert.strictEqual(swapOf(Schema.decodeUnknownSync(codec)(stored)).minBuyAmountRaw, 4n)
  })
})

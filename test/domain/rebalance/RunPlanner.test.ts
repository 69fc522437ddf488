/** What the planner makes of preferences and refused transfers, over the real stores and a market in memory. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Result } from "effect"
import { SqlClient } from "effect/sql"
import { type AssetId, chainIdOf } from "#domain/values/Caip.ts"
import { Balances } from "#domain/chain/Balances.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { makeOperationId, type PortfolioId, type TenantId } from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import type { PlannedChain } from "#domain/planning/PlannedChain.ts"
import { RunPlanner } from "#domain/rebalance/plan/RunPlanner.ts"
import { RunStore } from "#domain/rebalance/RunStore.ts"
import { type RouteRequest, Routing } from "#domain/trading/Routing.ts"
import { Venue } from "#domain/trading/Venue.ts"
import { InTransit } from "#domain/transfer/InTransit.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { TenantConfigurationStore } from "#domain/tenant/TenantConfigurationStore.ts"
import { acceptWithdrawal, messageOf } from "#test/support/acceptedWithdrawal.ts"
import { arbUsdc, arbWeth, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { TestStores } from "#test/support/database.ts"
import { connectedPortfolio, enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { swapCombinations } from "#test/support/swapCombinations.ts"
import { testSettings, TestSettings } from "#test/support/settings.ts"
import { TestChain, TestChains } from "#test/support/chains/TestChains.ts"

interface Ids {
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
}

const Planner = RunPlanner.layer.pipe(
  Layer.provide(InTransit.layer),
  Layer.provideMerge(TestChains),
  Layer.provideMerge(TestSettings),
  Layer.provideMerge(TestStores)
)

/** The planned run of a portfolio as it stands. */
const planOf = Effect.fnUntraced(function* ({ portfolioId, tenantId }: Ids) {
  const operationId = yield* makeOperationId
  yield* (yield* OperationStore).submitManual({
    operationId,
    tenantId,
    portfolioId,
    now: yield* DateTime.now,
    cooldownMs: 0
  })
  const planner = yield* RunPlanner
  const runs = yield* RunStore
  return Effect.flatMap(runs.context(operationId), (context) => planner.plan(Option.getOrThrow(context)))
})

/** A portfolio that holds nothing but 10,000 dollars, 60 percent of which belong elsewhere; and its planned run. */
const planned = Effect.gen(function* () {
  const { accounts, portfolioId, strategyId, tenantId } = yield* enrolledPortfolio
  const market = yield* TestChain
  market.fund(accounts[0], baseUsdc.assetId, 10_000_000_000n)
  return { tenantId, strategyId, portfolioId, account: accounts[0], plan: yield* planOf({ portfolioId, tenantId }) }
})

layer(Planner, { excludeTestServices: true })("RunPlanner", (it) => {
  it.effect("resolves each preference of each run: strategy, then tenant, then service", () =>
    Effect.gen(function* () {
      const strategies = yield* StrategyStore
      const tenants = yield* TenantConfigurationStore
      const { plan, strategyId, tenantId } = yield* planned
      const dollar = Decimal.one
      // Thresholds far above and below the one trade that there is to make show which of them was applied.
      for (const [ofStrategy, ofTenant] of [
        [100_000n * dollar, 2n * dollar],
        [2n * dollar, 100_000n * dollar]
      ] as const) {
        const combinations = swapCombinations(
          { slippageBps: 11, priceImpactBps: 12, thresholdUsd: ofStrategy },
          { slippageBps: 21, priceImpactBps: 22, thresholdUsd: ofTenant },
          testSettings.swaps.defaults
        )
        for (const { expected, label, strategy, tenant } of combinations) {
          yield* strategies.patchSwap({ tenantId, strategyId }, strategy)
          yield* tenants.patchPreferences(tenantId, { swap: tenant })
          const { chains, limits } = yield* plan
          const { priceImpactBps, slippageBps, thresholdUsd } = expected
          assert.deepStrictEqual(limits, { slippageBps, priceImpactBps }, label)
          const trades = chains.some(({ legs }) => legs.length > 0)
          assert.strictEqual(trades, thresholdUsd < 10_000n * dollar, label)
        }
      }
    })
  )

  it.effect(
    "holds a mirrored strategy to the tightest limits of creator, own tenant and service, as they were accepted",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const strategies = yield* StrategyStore
        const tenants = yield* TenantConfigurationStore
        const { plan, strategyId, tenantId } = yield* planned
        const creator = (yield* enrolledPortfolio).tenantId
        // As an enrollment into another tenant's strategy leaves it.
        yield* sql`UPDATE strategies SET tenant_id = ${creator} WHERE strategy_id = ${strategyId}`
        yield* sql`
        INSERT INTO mirror_terms
          (tenant_id, strategy_id, frequency, slippage_bps, price_impact_bps, threshold_usd, accepted_at)
        VALUES (${tenantId}, ${strategyId}, 'daily', 40, 60, 2, ${DateTime.toDateUtc(yield* DateTime.now)})`
        yield* strategies.patchSwap({ tenantId: creator, strategyId }, { slippageBps: 1_000, priceImpactBps: 1_000 })
        assert.deepStrictEqual((yield* plan).limits, { slippageBps: 40, priceImpactBps: 60 })
        yield* tenants.patchPreferences(tenantId, { swap: { slippageBps: 30 } })
        assert.deepStrictEqual((yield* plan).limits, { slippageBps: 30, priceImpactBps: 60 })
        yield* strategies.patchSwap(
          { tenantId: creator, strategyId },
          { priceImpactBps: 10, thresholdUsd: 100_000n * Decimal.one }
        )
        const { chains, limits } = yield* plan
        assert.deepStrictEqual(limits, { slippageBps: 30, priceImpactBps: 10 })
        assert.isTrue(
          chains.some(({ legs }) => legs.length > 0),
          "that threshold was never accepted"
        )
      })
  )

  it.effect("leaves alone what is promised to a withdrawal, until that is finished", () =>
    Effect.gen(function* () {
      const { account, plan, portfolioId, tenantId } = yield* planned
      const sold = Effect.map(plan, ({ chains }) =>
        chains.flatMap(({ legs }) => legs).reduce((sum, { sellAmountRaw }) => sum + sellAmountRaw, 0n)
      )
      const all = yield* sold
      assert.isAbove(Number(all), 0)
      const message = yield* messageOf({ portfolioId, tenantId }, account, {
        assets: [[baseUsdc.assetId, 9_000_000_000n]]
      })
      const operationId = yield* acceptWithdrawal({ portfolioId, tenantId }, { accountId: account, message })
      const left = yield* sold
      // A tenth of the money is free, so a tenth of it is traded.
      assert.isTrue(left * 9n < all && left * 11n > all, `${left} of ${all}`)
      yield* (yield* OperationStore).transition({
        operationId,
        to: "failed",
        at: yield* DateTime.now,
        error: "refused"
      })
      assert.strictEqual(yield* sold, all)
    })
  )

  it.effect("takes the defaults of the portfolio's own tenant", () =>
    Effect.gen(function* () {
      const tenants = yield* TenantConfigurationStore
      const [one, other] = [yield* planned, yield* planned]
      yield* tenants.patchPreferences(other.tenantId, { swap: { slippageBps: 999 } })
      assert.strictEqual((yield* one.plan).limits.slippageBps, testSettings.swaps.defaults.slippageBps)
      assert.strictEqual((yield* other.plan).limits.slippageBps, 999)
    })
  )
})

/** What a provider of routes was asked, and whether it has the route. */
const asked: Array<RouteRequest> = []
let opens: (request: RouteRequest) => boolean = () => true
const Provider = Layer.mock(Routing, {
  quote: (request: RouteRequest) =>
    Effect.suspend(() => {
      asked.push(request)
      const { amountRaw, minRaw } = request
      return opens(request)
        ? Effect.succeedSome({ tool: "test", minRaw, expectedRaw: amountRaw, durationSeconds: 1 })
        : Effect.succeedNone
    }),
  swapQuotes: () => Effect.succeed([])
})

/** Quotes nothing. */
const NoQuotes = Layer.mock(Venue, {
  assumedFeeBps: () => 30,
  quote: ({ requests }) => Effect.succeed(requests.map(() => null))
})

const plannerOver = (ports: Layer.Layer<Routing> | Layer.Layer<Routing | Venue>) =>
  RunPlanner.layer.pipe(
    Layer.provide(InTransit.layer),
    Layer.provide(ports),
    Layer.provideMerge(TestChains),
    Layer.provideMerge(TestSettings),
    Layer.provideMerge(TestStores)
  )

/** Two chains that may exchange value, the second of which holds one WETH worth 2,500 dollars and nothing else. */
const between = Effect.fnUntraced(function* (held: AssetId, raw: bigint) {
  const enrolled = yield* connectedPortfolio
  const market = yield* TestChain
  market.fund(enrolled.accounts[0], held, raw)
  market.fund(enrolled.accounts[1], arbWeth.assetId, 1_000_000_000_000_000_000n)
  asked.length = 0
  const { chains } = yield* yield* planOf(enrolled)
  return chains
})

const soldOn = ({ legs }: PlannedChain) =>
  legs.map(({ buy, sell, valueUsd }) => [sell, buy, Decimal.format(valueUsd, 0)])

layer(plannerOver(Provider), { excludeTestServices: true })("RunPlanner, of transfers", (it) => {
  it.effect("plans a transfer that has a route, asks once for it, and the receiver waits for what comes", () =>
    Effect.gen(function* () {
      opens = () => true
      const [base, arbitrum] = yield* between(baseUsdc.assetId, 10_000_000_000n)
      assert.lengthOf(base!.transfers!, 1)
      assert.isEmpty(arbitrum!.legs)
      assert.deepStrictEqual(
        asked.map(({ amountRaw, buy }) => [amountRaw, buy]),
        [[base!.transfers![0]!.amountRaw, arbUsdc.assetId]]
      )
    })
  )

  it.effect("plans both chains without a transfer whose route is refused, says so, and asks once in each run", () =>
    Effect.gen(function* () {
      opens = () => false
      const [base, arbitrum] = yield* between(baseUsdc.assetId, 10_000_000_000n)
      assert.isUndefined(base!.transfers)
      assert.deepStrictEqual(soldOn(base!), [[baseUsdc.assetId, baseWeth.assetId, "6007"]])
      assert.deepStrictEqual(soldOn(arbitrum!), [[arbWeth.assetId, arbUsdc.assetId, "1001"]])
      assert.deepStrictEqual(
        base!.skips.map(({ code }) => code),
        ["CROSS_CHAIN_PENDING", "NO_ROUTE"]
      )
      assert.lengthOf(asked, 1)
    })
  )
})

layer(plannerOver(Layer.merge(Provider, NoQuotes)), { excludeTestServices: true })(
  "RunPlanner, of what sells for a transfer",
  (it) => {
    it.effect("plans both chains without a transfer for which nothing can be sold, and asks no provider for it", () =>
      Effect.gen(function* () {
        opens = () => true
        const [base, arbitrum] = yield* between(baseWeth.assetId, 4_000_000_000_000_000_000n)
        assert.isUndefined(base!.transfers)
        assert.deepStrictEqual(soldOn(base!), [[baseWeth.assetId, baseUsdc.assetId, "4007"]])
        assert.deepStrictEqual(soldOn(arbitrum!), [[arbWeth.assetId, arbUsdc.assetId, "1001"]])
        const refused = base!.skips.find(({ buy }) => buy === arbUsdc.assetId)
        assert.strictEqual(refused?.code, "BELOW_MIN_TRANSFER")
        assert.isEmpty(asked)
      })
    )
  }
)

layer(Planner, { excludeTestServices: true })("RunPlanner, by a policy", (it) => {
  it.effect("trades to the edge of the strategy's band, keeps its figures, and rests inside of it", () =>
    Effect.gen(function* () {
      const { plan, strategyId, tenantId } = yield* planned
      yield* (yield* StrategyStore).patchSwap(
        { tenantId, strategyId },
        {
          rebalancePolicy: { band: { kind: "relative", width: 1_000 } }
        }
      )
      const [base] = (yield* plan).chains
      const sold = base!.legs.reduce((sum, { valueUsd }) => sum + valueUsd, 0n)
      // All is in USDC, whose target is 40 percent of the chain: traded to the edge of 44.
      assert.closeTo(Number(sold) / 1e18, 5_600, 15)
      assert.isTrue(base!.measures!.worth!.benefitUsd > base!.measures!.worth!.costUsd)
      assert.lengthOf(base!.measures!.bands, 2)
    })
  )

  it.effect("takes the tenant's policy where the strategy has none, and its limit of cost holds", () =>
    Effect.gen(function* () {
      const { plan, tenantId } = yield* planned
      yield* (yield* TenantConfigurationStore).patchPreferences(tenantId, {
        rebalancePolicy: { band: { kind: "auto" }, maxCostBps: { run: 3 } }
      })
      const [base] = (yield* plan).chains
      // Three dollars of ten thousand, at 30 basis points and a reserve of 5.
      const sold = base!.legs.reduce((sum, { valueUsd }) => sum + valueUsd, 0n)
      assert.closeTo(Number(sold) / 1e18, 3 / 0.0035, 1)
      const limited = base!.skips.find(({ code }) => code === "COST_LIMIT")
      assert.include(limited!.reason, "3.0000 USD")
    })
  )
})

const thief = "7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2"
const foreign = { assetId: baseUsdc.assetId, holder: thief }

/** Somebody else may move the dollars of accounts on Base. */
const robbedBalances = Layer.effect(
  Balances,
  Effect.map(Balances, ({ read, readMany }) =>
    Balances.of({
      read,
      readMany: (chainId, accounts) =>
        Effect.map(readMany(chainId, accounts), (results) =>
          chainId === chainIdOf(baseUsdc.assetId)
            ? results.map(Result.map((reading) => ({ ...reading, authorities: [foreign] })))
            : results
        )
    })
  )
)

const robbedPlanner = RunPlanner.layer.pipe(
  Layer.provide(InTransit.layer),
  Layer.provide(robbedBalances),
  Layer.provideMerge(TestChains),
  Layer.provideMerge(TestSettings),
  Layer.provideMerge(TestStores)
)

layer(robbedPlanner, { excludeTestServices: true })("RunPlanner, of what somebody else may move", (it) => {
  it.effect("trades none of it, and hands on who it is for the end of the run to record", () =>
    Effect.gen(function* () {
      const { plan } = yield* planned
      const { authorities, chains } = yield* plan
      assert.deepStrictEqual(authorities, [foreign])
      assert.isEmpty(chains.flatMap(({ legs }) => legs))
      const skip = chains.flatMap(({ skips }) => skips).find(({ assetId }) => assetId === baseUsdc.assetId)
      assert.strictEqual(skip?.code, "FOREIGN_AUTHORITY")
      assert.include(skip!.reason, thief)
    })
  )
})

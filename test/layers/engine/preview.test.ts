/** What a preview promises, held against what runs do, over embedded PostgreSQL and a market in memory. */
import { NodeCrypto } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as Decimal from "#domain/values/Decimal.ts"
import { PlanChanged } from "#domain/errors/Errors.ts"
import { PortfolioTenant } from "#domain/identity/access/PortfolioTenant.ts"
import type { TenantId } from "#domain/values/Ids.ts"
import { isTerminal } from "#domain/operation/Operation.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { expectedOf } from "#domain/rebalance/preview/Preview.ts"
import { Previews } from "#domain/rebalance/preview/Previews.ts"
import { Rebalances } from "#domain/rebalance/Rebalances.ts"
import { DryRunLive } from "#layers/engine/DryRunLive.ts"
import { EngineLive } from "#layers/engine/EngineLive.ts"
import { arbUsdc, baseUsdc, baseWeth } from "#test/support/assets.ts"
import { TestChain, TestChains } from "#test/support/chains/TestChains.ts"
import { TestStores } from "#test/support/database.ts"
import { enrolledPortfolio, setPrices } from "#test/support/enrolledPortfolio.ts"
import { TestSettings } from "#test/support/settings.ts"

const Engine = Layer.provide(Rebalances.layer, DryRunLive).pipe(
  Layer.provideMerge(EngineLive),
  Layer.provideMerge(TestChains),
  Layer.provideMerge(TestSettings),
  Layer.provideMerge(TestStores),
  Layer.provideMerge(NodeCrypto.layer)
)

const as = (tenantId: TenantId) => Effect.provideService(PortfolioTenant, { tenantId })

/** A portfolio of dollars on both chains, whose target is 60 percent WETH on each. */
const funded = Effect.gen(function* () {
  yield* setPrices
  const portfolio = yield* enrolledPortfolio
  const market = yield* TestChain
  market.fund(portfolio.accounts[0], baseUsdc.assetId, 10_000_000_000n)
  market.fund(portfolio.accounts[1], arbUsdc.assetId, 10_000_000_000n)
  return { ...portfolio, market }
})

const everything = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    SELECT (SELECT count(*)::int FROM operations) AS operations,
    (SELECT count(*)::int FROM portfolio_valuations) AS valuations,
      (SELECT count(*)::int FROM transfer_intents) AS intents, (SELECT count(*)::int FROM relayed_actions) AS actions`
)

layer(Engine, { excludeTestServices: true })("a preview", (it) => {
  it.effect("says what a run does, and nothing happens by it", () =>
    Effect.gen(function* () {
      const { accounts, market, portfolioId, tenantId } = yield* funded
      const before = [yield* everything, market.broadcasts.length]
      const { plan, planHash } = yield* Effect.flatMap(Previews, ({ make }) => make(portfolioId)).pipe(as(tenantId))
      assert.deepStrictEqual([yield* everything, market.broadcasts.length], before)
      assert.match(planHash, /^[0-9a-f]{64}$/)
      assert.deepStrictEqual(
        plan.chains.map(({ chainId, outcome, swaps }) => [chainId, outcome, swaps.length]),
        [
          [8453, "trades", 1],
          [42161, "trades", 1]
        ]
      )
      const [{ gas, swaps }] = plan.chains as [(typeof plan.chains)[number]]
      assert.isAbove(Number(gas!.limit), 0)

      const { operationId } = yield* Effect.flatMap(Rebalances, ({ triggerAsPreviewed }) =>
        triggerAsPreviewed(portfolioId, planHash)
      ).pipe(as(tenantId))
      yield* Effect.flatMap(OperationStore, (store) => store.find(tenantId, portfolioId, operationId)).pipe(
        Effect.flatMap(Effect.fromOption),
        Effect.repeat({ until: ({ state }) => isTerminal(state), schedule: Schedule.spaced("50 millis") })
      )
      assert.strictEqual(market.balance(accounts[0], baseUsdc.assetId), 10_000_000_000n - swaps[0]!.sellAmountRaw)
      assert.strictEqual(market.balance(accounts[0], baseWeth.assetId), expectedOf(swaps[0]!))
    })
  )

  it.effect("that a run would not follow any more starts nothing, and says what differs", () =>
    Effect.gen(function* () {
      const { accounts, market, portfolioId, tenantId } = yield* funded
      const { planHash } = yield* Effect.flatMap(Previews, ({ make }) => make(portfolioId)).pipe(as(tenantId))
      market.prices.set(baseWeth.assetId, 2600n * Decimal.one)
      const before = yield* everything
      const dearer = yield* Effect.flatMap(Rebalances, ({ triggerAsPreviewed }) =>
        triggerAsPreviewed(portfolioId, planHash)
      ).pipe(as(tenantId), Effect.exit)
      const refusal = Exit.isFailure(dearer) ? dearer.cause.reasons[0] : undefined
      const error = refusal?._tag === "Fail" ? refusal.error : undefined
      assert.instanceOf(error, PlanChanged)
      assert.match((error as PlanChanged).details![0]!, /^chain 8453: .* less than the minimum of the preview/)
      assert.deepStrictEqual(yield* everything, before)

      yield* setPrices
      market.fund(accounts[0], baseUsdc.assetId, 1_000_000_000n)
      const richer = yield* Effect.flatMap(Rebalances, ({ triggerAsPreviewed }) =>
        triggerAsPreviewed(portfolioId, planHash)
      ).pipe(as(tenantId), Effect.flip)
      assert.instanceOf(richer, PlanChanged)
      assert.match((richer as PlanChanged).details![0]!, /would sell \d+, and \d+ in the preview$/)
    })
  )

  it.effect("of a chain that is down says so, and what the other chain would do", () =>
    Effect.gen(function* () {
      const { market, portfolioId, tenantId } = yield* funded
      market.down.add(42161)
      const { plan } = yield* Effect.flatMap(Previews, ({ make }) => make(portfolioId)).pipe(
        as(tenantId),
        Effect.ensuring(Effect.sync(() => market.down.clear()))
      )
      assert.deepStrictEqual(
        plan.chains.map(({ outcome }) => outcome),
        ["trades", "nothing"]
      )
      assert.include(
        plan.chains[1]!.skips.map(({ code }) => code),
        "CHAIN_UNAVAILABLE"
      )
    })
  )

  it.effect("of ten at once are kept, and the oldest beyond makes room", () =>
    Effect.gen(function* () {
      const { market, portfolioId, tenantId } = yield* funded
      const previews = yield* Previews
      const hashes: Array<string> = []
      for (let cents = 0n; cents < 11n; cents += 1n) {
        market.prices.set(baseWeth.assetId, 2500n * Decimal.one + cents * 10n ** 16n)
        hashes.push((yield* as(tenantId)(previews.make(portfolioId))).planHash)
      }
      assert.strictEqual(new Set(hashes).size, 11)
      const known = yield* Effect.forEach(hashes, (hash) =>
        Effect.exit(as(tenantId)(previews.requireUnchanged(portfolioId, hash)))
      )
      assert.deepStrictEqual(
        known.map(Exit.isSuccess),
        hashes.map((_, index) => index > 0)
      )
    })
  )
})

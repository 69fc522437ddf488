/** Runs that could not read, price or route everything: what they say, and when the portfolio is due again. */
import { assert, layer } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { DateTime, Effect, Layer, Option, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "#domain/values/Caip.ts"
import { makeOperationId, type PortfolioId, type TenantId } from "#domain/values/Ids.ts"
import { isTerminal } from "#domain/operation/Operation.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { RunReport } from "#domain/rebalance/RunReport.ts"
import { RunStore } from "#domain/rebalance/RunStore.ts"
import { EngineLive } from "#layers/engine/EngineLive.ts"
import { arbUsdc, baseUsdc } from "#test/support/assets.ts"
import { TestStores } from "#test/support/database.ts"
import { connectedPortfolio, enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { TestSettings } from "#test/support/settings.ts"
import { TestChain, TestChains } from "#test/support/chains/TestChains.ts"
import type { TestMarket } from "#test/support/chains/TestMarket.ts"
import { patience } from "#test/support/suite/patience.ts"

const Engine = EngineLive.pipe(
  Layer.provideMerge(TestChains),
  Layer.provideMerge(TestSettings),
  Layer.provideMerge(TestStores),
  Layer.provideMerge(NodeCrypto.layer)
)

interface Enrolled {
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
  readonly accounts: readonly [AccountId, AccountId]
}

const tenThousand = 10_000_000_000n
const minute = 60_000
const day = 86_400_000

const scheduleOf = ({ portfolioId, tenantId }: Enrolled) =>
  Effect.map(
    Effect.flatMap(PortfolioStore, (store) => store.find(tenantId, portfolioId)),
    (found) => Option.getOrThrow(found).schedule!
  )

/**
 * The portfolio's daily run, which was due at this moment: the operation that ended, its report, and when it is due
 * again.
 */
const runWhenDue = Effect.fnUntraced(function* (enrolled: Enrolled) {
  const { portfolioId, tenantId } = enrolled
  const store = yield* OperationStore
  const sql = yield* SqlClient.SqlClient
  const operationId = yield* makeOperationId
  const now = yield* DateTime.now
  yield* sql`
    UPDATE schedules SET due_at = ${new Date(now.epochMilliseconds + day)} WHERE portfolio_id = ${portfolioId}`
  yield* store.submitManual({ operationId, tenantId, portfolioId, now, cooldownMs: 0 })
  yield* Effect.flatMap(OperationLauncher, (launcher) => launcher.launch({ operationId, kind: "rebalance" }))
  const operation = yield* store.find(tenantId, portfolioId, operationId).pipe(
    Effect.flatMap(Effect.fromOption),
    Effect.filterOrFail(({ state }) => isTerminal(state)),
    Effect.retry(Schedule.spaced("50 millis")),
    Effect.timeout(patience)
  )
  const report = yield* Effect.flatMap(RunStore, (runs) => runs.report(operationId)).pipe(
    Effect.flatMap(Effect.fromOption),
    Effect.flatMap(Schema.decodeUnknownEffect(Schema.toCodecJson(RunReport)))
  )
  const { nextDueAt } = yield* scheduleOf(enrolled)
  return { operation, report, dueInMs: nextDueAt.epochMilliseconds - operation.finishedAt!.epochMilliseconds }
})

const swapsOf = (report: RunReport) => report.chains.map(({ swaps }) => swaps.length)

/** Due again after about so many minutes. */
const assertDueIn = (dueInMs: number, minutes: number) =>
  assert.isTrue(dueInMs >= 0.8 * minutes * minute && dueInMs <= 1.2 * minutes * minute, `${dueInMs} ms`)

const during = <A, E, R>(change: (market: TestMarket, isOut: boolean) => void, effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(TestChain, (market) =>
    Effect.acquireUseRelease(
      Effect.sync(() => change(market, true)),
      () => effect,
      () => Effect.sync(() => change(market, false))
    )
  )

const withoutArbitrum = (market: TestMarket, isOut: boolean) =>
  isOut ? market.down.add(42161) : market.down.delete(42161)

layer(Engine, { excludeTestServices: true })("a run that does not get an answer", (it) => {
  it.effect("asks again: five dropped answers of a chain cost seconds, not a day", () =>
    Effect.gen(function* () {
      const enrolled = yield* enrolledPortfolio
      const market = yield* TestChain
      market.fund(enrolled.accounts[1], arbUsdc.assetId, tenThousand)
      market.drops.set(42161, 5)
      const { dueInMs, operation, report } = yield* runWhenDue(enrolled)
      assert.deepStrictEqual([operation.state, swapsOf(report)], ["completed", [0, 1]])
      assert.isAbove(dueInMs, day - minute)
    })
  )

  it.effect(
    "fails with the chain named when nothing could be done, and the portfolio is due in 1, 5 and 15 minutes",
    () =>
      Effect.gen(function* () {
        const enrolled = yield* enrolledPortfolio
        const market = yield* TestChain
        market.fund(enrolled.accounts[1], arbUsdc.assetId, tenThousand)
        yield* during(
          withoutArbitrum,
          Effect.gen(function* () {
            for (const minutes of [1, 5, 15]) {
              const { dueInMs, operation, report } = yield* runWhenDue(enrolled)
              assert.deepStrictEqual([operation.state, swapsOf(report)], ["failed", [0, 0]])
              assert.include(operation.error ?? "", "chain 42161")
              assert.isNull((yield* scheduleOf(enrolled)).lastRebalanceAt)
              assertDueIn(dueInMs, minutes)
            }
          })
        )
        const { dueInMs, operation } = yield* runWhenDue(enrolled)
        assert.strictEqual(operation.state, "completed")
        assert.isAbove(dueInMs, day - minute)
        // What was counted before is forgotten: the next outage begins at one minute.
        assertDueIn((yield* during(withoutArbitrum, runWhenDue(enrolled))).dueInMs, 1)
      })
  )

  it.effect("keeps what it did on other chains, and is due again in a minute for the rest", () =>
    Effect.gen(function* () {
      const enrolled = yield* enrolledPortfolio
      const market = yield* TestChain
      market.fund(enrolled.accounts[0], baseUsdc.assetId, tenThousand)
      market.fund(enrolled.accounts[1], arbUsdc.assetId, tenThousand)
      const { dueInMs, operation, report } = yield* during(withoutArbitrum, runWhenDue(enrolled))
      assert.deepStrictEqual([operation.state, swapsOf(report)], ["completed", [1, 0]])
      assertDueIn(dueInMs, 1)
    })
  )

  it.effect("of the price source fails, and is due again in a minute", () =>
    Effect.gen(function* () {
      const enrolled = yield* enrolledPortfolio
      const market = yield* TestChain
      market.fund(enrolled.accounts[0], baseUsdc.assetId, tenThousand)
      const { dueInMs, operation } = yield* during((market, isOut) => {
        market.arePricesKnown = !isOut
      }, runWhenDue(enrolled))
      assert.strictEqual(operation.state, "failed")
      assert.include(operation.error ?? "", "No price source answered")
      assertDueIn(dueInMs, 1)
    })
  )

  it.effect("of the provider of routes trades what it can, and is due again in a minute", () =>
    Effect.gen(function* () {
      const enrolled = yield* connectedPortfolio
      const market = yield* TestChain
      market.fund(enrolled.accounts[0], baseUsdc.assetId, tenThousand)
      const { dueInMs, operation } = yield* during((market, isOut) => {
        market.isRouting = !isOut
      }, runWhenDue(enrolled))
      assert.strictEqual(operation.state, "completed")
      assertDueIn(dueInMs, 1)
    })
  )
})

import { assert } from "@effect/vitest"
import { type DateTime, Deferred, Effect, Fiber, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { PortfolioId, TenantId } from "#domain/Ids.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { DatabaseInfo } from "#layers/sql/DatabaseInfo.ts"
import { eachDatabase } from "#test/support/database.ts"
import {
  after,
  claimDue,
  insertPortfolio,
  insertStrategy,
  insertTenant,
  noon,
  pauseAll
} from "#test/layers/sql/fixtures.ts"

const hour = 3_600_000
const day = 24 * hour

const scheduleOf = Effect.fnUntraced(function* (tenantId: TenantId, portfolioId: PortfolioId) {
  const found = yield* (yield* PortfolioStore).find(tenantId, portfolioId)
  return Option.getOrThrow(found).schedule!
})

const dueOf = (tenantId: TenantId, portfolioId: PortfolioId) =>
  Effect.map(scheduleOf(tenantId, portfolioId), ({ nextDueAt }) => nextDueAt)

eachDatabase("StrategyStore.setFrequency", (it) => {
  it.effect("brings forward what is due later than one new interval from now, and nothing else", () =>
    Effect.gen(function* () {
      const store = yield* StrategyStore
      const portfolios = yield* PortfolioStore
      const tenantId = yield* insertTenant
      const strategy = yield* insertStrategy(tenantId, "monthly")
      const enroll = (dueAt: DateTime.Utc, of = strategy) => insertPortfolio(of, { dueAt })
      const later = yield* enroll(after(20 * day))
      const justLater = yield* enroll(after(day + 1))
      const onTime = yield* enroll(after(day))
      const sooner = yield* enroll(after(hour))
      const overdue = yield* enroll(after(-hour))
      const paused = yield* enroll(after(20 * day))
      yield* portfolios.stop(tenantId, paused.portfolioId, noon)
      const mirrored = yield* enroll(after(20 * day), { ...strategy, tenantId: yield* insertTenant })
      const unrelated = yield* enroll(after(20 * day), yield* insertStrategy(tenantId, "monthly"))

      assert.deepStrictEqual(
        yield* store.setFrequency(tenantId, strategy.strategyId, "daily", noon),
        Option.some("daily" as const)
      )
      const expected = [
        [later, after(day)],
        [justLater, after(day)],
        [onTime, after(day)],
        [sooner, after(hour)],
        [overdue, after(-hour)],
        [paused, after(20 * day)],
        [mirrored, after(day)],
        [unrelated, after(20 * day)]
      ] as const
      for (const [{ flow, portfolioId }, dueAt] of expected) {
        assert.deepStrictEqual(yield* dueOf(flow.tenantId, portfolioId), dueAt)
      }
      assert.strictEqual((yield* scheduleOf(tenantId, paused.portfolioId)).frequency, "daily")

      // A longer cadence puts nothing off, and begins after what is due.
      yield* store.setFrequency(tenantId, strategy.strategyId, "monthly", noon)
      for (const [{ flow, portfolioId }, dueAt] of expected) {
        assert.deepStrictEqual(yield* dueOf(flow.tenantId, portfolioId), dueAt)
      }
      yield* claimDue(after(hour), 1_000)
      assert.deepStrictEqual(yield* dueOf(tenantId, sooner.portfolioId), after(hour + 30 * day))
    })
  )

  it.effect("changes only a strategy of the tenant", () =>
    Effect.gen(function* () {
      const store = yield* StrategyStore
      const strategy = yield* insertStrategy(yield* insertTenant, "monthly")
      const { flow, portfolioId } = yield* insertPortfolio(strategy, { dueAt: after(20 * day) })
      const set = yield* store.setFrequency(yield* insertTenant, strategy.strategyId, "hourly", noon)
      assert.isTrue(Option.isNone(set))
      assert.deepStrictEqual(yield* store.find(strategy.strategyId), Option.some(strategy))
      assert.deepStrictEqual(yield* dueOf(flow.tenantId, portfolioId), after(20 * day))
    })
  )

  it.effect("comes before or after a claim, never between: no portfolio waits for the old cadence", () =>
    Effect.gen(function* () {
      yield* pauseAll
      const store = yield* StrategyStore
      const tenantId = yield* insertTenant
      for (let round = 0; round < 25; round++) {
        const strategy = yield* insertStrategy(tenantId, "monthly")
        const all = yield* Effect.forEach([0, 1, 2], () => insertPortfolio(strategy, { dueAt: noon }))
        yield* Effect.all([claimDue(noon, 10), store.setFrequency(tenantId, strategy.strategyId, "hourly", noon)], {
          concurrency: "unbounded"
        })
        yield* claimDue(noon, 10)
        for (const { portfolioId } of all) {
          assert.deepStrictEqual(yield* dueOf(tenantId, portfolioId), after(hour))
        }
      }
    })
  )

  it.effect("a claim leaves what is being changed for its next look", () =>
    Effect.gen(function* () {
      // One connection cannot have two transactions.
      if ((yield* DatabaseInfo).isEmbedded) return
      yield* pauseAll
      const sql = yield* SqlClient.SqlClient
      const tenantId = yield* insertTenant
      const strategy = yield* insertStrategy(tenantId, "monthly")
      const { portfolioId } = yield* insertPortfolio(strategy, { dueAt: noon })
      const other = yield* insertPortfolio(yield* insertStrategy(tenantId, "monthly"), { dueAt: noon })
      const [changed, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const change = yield* Effect.gen(function* () {
        yield* sql`UPDATE strategies SET frequency = 'hourly' WHERE strategy_id = ${strategy.strategyId}`
        yield* Deferred.succeed(changed, undefined)
        yield* Deferred.await(go)
      }).pipe(sql.withTransaction, Effect.forkChild)
      yield* Deferred.await(changed)
      assert.strictEqual((yield* claimDue(noon, 10)).length, 1)
      assert.deepStrictEqual(yield* dueOf(tenantId, other.portfolioId), after(30 * day))
      assert.deepStrictEqual(yield* dueOf(tenantId, portfolioId), noon)
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(change)
      assert.strictEqual((yield* claimDue(noon, 10)).length, 1)
      assert.deepStrictEqual(yield* dueOf(tenantId, portfolioId), after(hour))
    })
  )
})

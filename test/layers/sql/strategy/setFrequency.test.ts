import { assert } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { PortfolioId, TenantId } from "#domain/values/Ids.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { MirrorTermsStore } from "#domain/strategy/MirrorTermsStore.ts"
import { DueStore } from "#domain/rebalance/DueStore.ts"
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

/** Sets the portfolio as if it had been checked `ago` milliseconds before noon, and is due then or later. */
const lookedAt = Effect.fnUntraced(function* ({ portfolioId }: { readonly portfolioId: PortfolioId }, ago: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE schedules SET checked_at = ${DateTime.toDateUtc(after(-ago))} WHERE portfolio_id = ${portfolioId}`
})

/** Not before `due`, and later by no more than a tenth of an interval and an hour. */
const assertAbout = (actual: DateTime.Utc, due: DateTime.Utc, interval: number) => {
  const late = actual.epochMilliseconds - due.epochMilliseconds
  assert.isTrue(late >= 0 && late <= Math.min(interval / 10, hour), `${late} ms later than expected`)
}

eachDatabase("StrategyStore.setFrequency", (it) => {
  it.effect("moves due times to the new cadence from the cycle that they are in, and back", () =>
    Effect.gen(function* () {
      const store = yield* StrategyStore
      const portfolios = yield* PortfolioStore
      const sql = yield* SqlClient.SqlClient
      const tenantId = yield* insertTenant
      const strategy = yield* insertStrategy(tenantId, "monthly")
      const enroll = Effect.fnUntraced(function* (dueAt: DateTime.Utc, of = strategy) {
        const portfolio = yield* insertPortfolio(of, { dueAt })
        yield* lookedAt(portfolio, 10 * day + hour)
        return portfolio
      })
      const inCycle = yield* enroll(after(20 * day - hour))
      const overdue = yield* enroll(after(-hour))
      const fresh = yield* insertPortfolio(strategy, { dueAt: after(5_000) })
      const retried = yield* enroll(after(60_000))
      yield* sql`UPDATE schedules SET retries = 1 WHERE portfolio_id = ${retried.portfolioId}`
      const paused = yield* enroll(after(20 * day - hour))
      yield* portfolios.stop(tenantId, paused.portfolioId, { at: noon, note: null })
      const unrelated = yield* enroll(after(20 * day), yield* insertStrategy(tenantId, "monthly"))

      const stay = [
        [overdue, after(-hour)],
        [fresh, after(5_000)],
        [retried, after(60_000)],
        [paused, after(20 * day - hour)],
        [unrelated, after(20 * day)]
      ] as const
      for (const [frequency, due, interval] of [
        ["daily", after(day - hour), day],
        ["hourly", after(hour), hour],
        ["weekly", after(4 * day - hour), 7 * day],
        ["monthly", after(20 * day - hour), 30 * day]
      ] as const) {
        assert.deepStrictEqual(
          yield* store.setFrequency({ tenantId, strategyId: strategy.strategyId }, frequency, noon),
          Option.some(frequency)
        )
        assertAbout(yield* dueOf(tenantId, inCycle.portfolioId), due, interval)
        for (const [{ portfolioId }, dueAt] of stay) {
          assert.deepStrictEqual(yield* dueOf(tenantId, portfolioId), dueAt)
        }
        assert.strictEqual((yield* scheduleOf(tenantId, paused.portfolioId)).frequency, frequency)
      }
    })
  )

  it.effect("moves 1,200 portfolios that began together in batches, and not to one moment", () =>
    Effect.gen(function* () {
      const store = yield* StrategyStore
      const sql = yield* SqlClient.SqlClient
      const tenantId = yield* insertTenant
      const { strategyId } = yield* insertStrategy(tenantId, "monthly")
      const [checked, due] = [DateTime.toDateUtc(after(-day)), DateTime.toDateUtc(after(29 * day))]
      yield* sql`
        INSERT INTO portfolios (portfolio_id, tenant_id, strategy_id, owner_account_id, account_index, account_ids,
          strategy_version, created_at, updated_at)
        SELECT 'pf_' || lpad(n::text, 26, '0'), ${tenantId}, ${strategyId}, n::text, 0, '{}', 1,
        ${checked}::timestamptz, ${checked}::timestamptz
        FROM generate_series(1, 1200) AS n`
      yield* sql`
        INSERT INTO schedules (portfolio_id, tenant_id, strategy_id, status, due_at, checked_at, portfolio_created_at,
          updated_at)
        SELECT portfolio_id, tenant_id, strategy_id, 'active', ${due}::timestamptz, ${checked}::timestamptz, created_at,
        created_at
        FROM portfolios WHERE strategy_id = ${strategyId}`
      const count = Effect.map(
        sql<{ readonly moved: number; readonly moments: number }>`
          SELECT count(*)::int AS moved, count(DISTINCT due_at)::int AS moments FROM schedules
          WHERE strategy_id = ${strategyId} AND due_at <= ${DateTime.toDateUtc(after(2 * hour))}`,
        ([row]) => row!
      )
      yield* store.setFrequency({ tenantId, strategyId }, "hourly", noon)
      assert.strictEqual((yield* count).moved, 500)
      const { moveToCadence } = yield* DueStore
      while (yield* moveToCadence(noon));
      const { moments, moved } = yield* count
      assert.strictEqual(moved, 1200)
      assert.isAbove(moments, 1100)
    })
  )

  it.effect(
    "of another tenant's strategy reaches a portfolio only as far as it is slower, until its tenant accepts it",
    () =>
      Effect.gen(function* () {
        const store = yield* StrategyStore
        const terms = yield* MirrorTermsStore
        const creator = yield* insertTenant
        const strategy = yield* insertStrategy(creator, "weekly")
        const mirror = yield* insertTenant
        const { portfolioId } = yield* insertPortfolio({ ...strategy, tenantId: mirror }, { dueAt: after(6 * day) })
        yield* lookedAt({ portfolioId }, day)
        const due = dueOf(mirror, portfolioId)
        const frequency = Effect.map(scheduleOf(mirror, portfolioId), (schedule) => schedule.frequency)

        yield* store.setFrequency({ tenantId: creator, strategyId: strategy.strategyId }, "hourly", noon)
        assertAbout(yield* due, after(6 * day), 7 * day)
        assert.strictEqual(yield* frequency, "weekly")
        yield* store.setFrequency({ tenantId: creator, strategyId: strategy.strategyId }, "monthly", noon)
        assertAbout(yield* due, after(29 * day), 30 * day)
        assert.strictEqual(yield* frequency, "monthly")

        yield* store.setFrequency({ tenantId: creator, strategyId: strategy.strategyId }, "hourly", noon)
        const { offered } = Option.getOrThrow(yield* terms.find(mirror, strategy.strategyId))
        assert.isTrue(
          yield* terms.accept({ tenantId: mirror, strategyId: strategy.strategyId, terms: offered, at: noon })
        )
        assertAbout(yield* due, after(hour), hour)
        assert.strictEqual(yield* frequency, "hourly")
        yield* claimDue(after(2 * hour), 10_000)
        const next = (yield* due).epochMilliseconds - after(2 * hour).epochMilliseconds
        assert.isTrue(next > 0 && next <= hour)
      })
  )

  it.effect("moves a mirroring portfolio that is claimed along the grid that its tenant accepted", () =>
    Effect.gen(function* () {
      yield* pauseAll
      const store = yield* StrategyStore
      const strategy = yield* insertStrategy(yield* insertTenant, "weekly")
      const mirror = yield* insertTenant
      const { portfolioId } = yield* insertPortfolio({ ...strategy, tenantId: mirror }, { dueAt: after(hour) })
      yield* store.setFrequency({ tenantId: strategy.tenantId, strategyId: strategy.strategyId }, "hourly", noon)
      assert.lengthOf(yield* claimDue(after(2 * hour), 10), 1)
      assert.deepStrictEqual(yield* dueOf(mirror, portfolioId), after(7 * day + hour))
    })
  )

  it.effect("changes only a strategy of the tenant", () =>
    Effect.gen(function* () {
      const store = yield* StrategyStore
      const strategy = yield* insertStrategy(yield* insertTenant, "monthly")
      const { flow, portfolioId } = yield* insertPortfolio(strategy, { dueAt: after(20 * day) })
      const set = yield* store.setFrequency(
        { tenantId: yield* insertTenant, strategyId: strategy.strategyId },
        "hourly",
        noon
      )
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
        yield* Effect.all(
          [claimDue(noon, 10), store.setFrequency({ tenantId, strategyId: strategy.strategyId }, "hourly", noon)],
          {
            concurrency: "unbounded"
          }
        )
        yield* claimDue(noon, 10)
        for (const { portfolioId } of all) {
          assertAbout(yield* dueOf(tenantId, portfolioId), after(hour), hour)
        }
      }
    })
  )

  it.effect("a claim leaves what is being changed for its next check", () =>
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

import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { eachDatabase } from "#test/support/database.ts"
import {
  after,
  claimDue,
  insertPortfolio,
  insertStrategy,
  insertTenant,
  noon,
  pauseAll,
  submit
} from "#test/layers/sql/fixtures.ts"

const hour = 3_600_000

eachDatabase("DueStore", (it) => {
  it.effect("accepts an operation for each due portfolio and moves it along its grid", () =>
    Effect.gen(function* () {
      yield* pauseAll
      const operations = yield* OperationStore
      const portfolios = yield* PortfolioStore
      const tenantId = yield* insertTenant
      const strategy = yield* insertStrategy(tenantId, "hourly")
      const due = yield* insertPortfolio(strategy, { dueAt: noon })
      const missed = yield* insertPortfolio(strategy, { dueAt: after(-10 * hour - 1) })
      const future = yield* insertPortfolio(strategy, { dueAt: after(1) })
      const paused = yield* insertPortfolio(strategy, { dueAt: noon })
      yield* portfolios.stop(tenantId, paused.portfolioId, { at: noon, note: null })
      assert.deepStrictEqual(yield* operations.oldestDue(noon), Option.some(after(-10 * hour - 1)))

      const claimed = yield* claimDue(noon, 100)
      assert.strictEqual(claimed.length, 2)
      const owners = yield* Effect.forEach([due, missed], ({ portfolioId }) =>
        Effect.forEach(claimed, (id) => operations.find(tenantId, portfolioId, id))
      )
      for (const found of owners) {
        const [operation, ...others] = found.flatMap(Option.toArray)
        assert.strictEqual(others.length, 0)
        assert.strictEqual(operation?.trigger, "scheduled")
        assert.strictEqual(operation?.state, "accepted")
        assert.deepStrictEqual(operation?.submittedAt, noon)
        assert.deepStrictEqual(
          (yield* operations.events(operation!.operationId, 0, 10)).map((event) => [event.sequence, event.payload]),
          [[1, { state: "accepted", trigger: "scheduled", error: null }]]
        )
      }

      const nextDue = (portfolio: typeof due) =>
        Effect.map(
          portfolios.find(tenantId, portfolio.portfolioId),
          (found) => Option.getOrThrow(found).schedule?.nextDueAt
        )
      assert.deepStrictEqual(yield* nextDue(due), after(hour))
      assert.deepStrictEqual(yield* nextDue(missed), after(hour - 1))
      assert.deepStrictEqual(yield* nextDue(future), after(1))
      assert.deepStrictEqual(yield* nextDue(paused), noon)
      assert.deepStrictEqual(yield* claimDue(noon, 100), [])
      assert.isTrue(Option.isNone(yield* operations.oldestDue(noon)))
    })
  )

  it.effect("gives a portfolio with an unfinished run the next due time only", () =>
    Effect.gen(function* () {
      yield* pauseAll
      const tenantId = yield* insertTenant
      const { portfolioId } = yield* insertPortfolio(yield* insertStrategy(tenantId, "daily"), { dueAt: noon })
      yield* submit(tenantId, portfolioId)
      assert.deepStrictEqual(yield* claimDue(noon, 100), [])
      const found = Option.getOrThrow(yield* (yield* PortfolioStore).find(tenantId, portfolioId))
      assert.deepStrictEqual(found.schedule?.nextDueAt, after(24 * hour))
    })
  )

  it.effect("claims the longest overdue first, up to the limit", () =>
    Effect.gen(function* () {
      yield* pauseAll
      const operations = yield* OperationStore
      const tenantId = yield* insertTenant
      const strategy = yield* insertStrategy(tenantId)
      const ids = []
      for (const dueAt of [after(-1), after(-3), after(-2)])
        ids.push((yield* insertPortfolio(strategy, { dueAt })).portfolioId)
      const first = yield* claimDue(noon, 2)
      assert.strictEqual(first.length, 2)
      assert.deepStrictEqual(yield* operations.oldestDue(noon), Option.some(after(-1)))
      assert.strictEqual((yield* claimDue(noon, 2)).length, 1)
    })
  )

  it.effect("never claims a portfolio twice, whoever claims at the same time", () =>
    Effect.gen(function* () {
      yield* pauseAll
      const sql = yield* SqlClient.SqlClient
      const tenantId = yield* insertTenant
      const strategy = yield* insertStrategy(tenantId)
      for (let n = 0; n < 60; n++) yield* insertPortfolio(strategy, { dueAt: after(-n) })
      const claimer = Effect.gen(function* () {
        const mine: Array<string> = []
        for (;;) {
          const batch = yield* claimDue(noon, 7)
          mine.push(...batch)
          if (batch.length === 0) return mine
        }
      })
      const claimed = (yield* Effect.replicateEffect(claimer, 6, { concurrency: "unbounded" })).flat()
      // A claimer may find the last rows held by another one and stop; whoever holds them claims them.
      assert.strictEqual(claimed.length, 60)
      assert.strictEqual(new Set(claimed).size, 60)
      const rows = yield* sql`SELECT portfolio_id FROM operations WHERE tenant_id = ${tenantId} GROUP BY portfolio_id
          HAVING count(*) > 1`
      assert.deepStrictEqual(rows, [])
    })
  )

  it.effect("gives every tenant its turn while one has more due than a batch holds", () =>
    Effect.gen(function* () {
      yield* pauseAll
      const operations = yield* OperationStore
      const sql = yield* SqlClient.SqlClient
      const busy = yield* insertStrategy(yield* insertTenant)
      for (let n = 0; n < 40; n++) yield* insertPortfolio(busy, { dueAt: after(-hour + n) })
      const quietTenant = yield* insertTenant
      const quiet = yield* insertStrategy(quietTenant)
      for (let n = 0; n < 3; n++) yield* insertPortfolio(quiet, { dueAt: after(-1) })
      for (let batch = 0; batch < 3; batch++) assert.isAtMost((yield* claimDue(noon, 8)).length, 8)
      const claimed = yield* sql`SELECT 1 FROM operations WHERE tenant_id = ${quietTenant}`
      assert.strictEqual(claimed.length, 3, "although 40 others were due before")
      let left = 0
      for (let batch = yield* claimDue(noon, 8); batch.length > 0; batch = yield* claimDue(noon, 8))
        left += batch.length
      assert.isAtLeast(left, 40 - 24 + 3 - 3)
      assert.isTrue(Option.isNone(yield* operations.oldestDue(noon)))
    })
  )

  it.effect("claims each portfolio once a period by processes whose clocks differ", () =>
    Effect.gen(function* () {
      yield* pauseAll
      const sql = yield* SqlClient.SqlClient
      const tenantId = yield* insertTenant
      const strategy = yield* insertStrategy(tenantId, "hourly")
      for (let n = 0; n < 20; n++) yield* insertPortfolio(strategy, { dueAt: after(n * 1000) })
      // One clock is ten seconds ahead, one ten behind; both check again and again while the hour begins.
      yield* Effect.all(
        [10_000, -10_000].map((skew) =>
          Effect.forEach(
            Array.from({ length: 30 }, (_, second) => second * 1000),
            (at) => claimDue(after(at + skew), 5)
          )
        ),
        { concurrency: 2 }
      )
      const rows = yield* sql<{ readonly runs: bigint }>`
        SELECT count(*) AS runs FROM operations WHERE tenant_id = ${tenantId} GROUP BY portfolio_id`
      assert.strictEqual(rows.length, 20)
      assert.isTrue(rows.every(({ runs }) => runs === 1n))
    })
  )
})

import { assert } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import { SqlClient } from "effect/sql"
import { makeOperationId } from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { DueStore } from "#domain/rebalance/DueStore.ts"
import { TenantEventLog } from "#domain/event/TenantEventLog.ts"
import { type RunEnd, RunStore } from "#domain/rebalance/RunStore.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { TenantConfigurationStore } from "#domain/tenant/TenantConfigurationStore.ts"
import { acceptSwap } from "#test/support/acceptedSwap.ts"
import { acceptWithdrawal, messageOf } from "#test/support/acceptedWithdrawal.ts"
import { baseUsdc } from "#test/support/assets.ts"
import { eachDatabase } from "#test/support/database.ts"
import { after, claimDue, noon, submit, weth, world } from "#test/layers/sql/fixtures.ts"

eachDatabase("RunStore", (it) => {
  it.effect("reads the portfolio and the head version as they are when the run begins", () =>
    Effect.gen(function* () {
      const store = yield* RunStore
      const { portfolio, portfolioId, strategy, tenantId } = yield* world()
      const { operationId } = yield* submit(tenantId, portfolioId)
      const allocation = [{ assetId: weth, weight: 10_000 }]
      yield* (yield* StrategyStore).publish({
        strategyId: strategy.strategyId,
        allocation,
        changeLog: null,
        createdAt: noon
      })
      yield* (yield* TenantConfigurationStore).patchPreferences(tenantId, {
        swap: { slippageBps: 77, thresholdUsd: 3n }
      })
      assert.deepStrictEqual(
        yield* store.context(operationId),
        Option.some({
          operationId,
          tenantId,
          portfolioId,
          strategyVersion: 2,
          allocation,
          swap: strategy.swap,
          tenantSwap: { slippageBps: 77, priceImpactBps: null, thresholdUsd: 3n },
          grants: [{ authorization: portfolio.flow.authorization, ownerSignature: portfolio.ownerSignature }],
          reserved: [],
          awaited: [],
          closedRoutes: []
        })
      )
      assert.isTrue(Option.isNone(yield* store.context(yield* makeOperationId)))
    })
  )

  it.effect("keeps what withdrawals were promised and what swaps that wait sell, until they have ended", () =>
    Effect.gen(function* () {
      const store = yield* RunStore
      const { portfolio, portfolioId, tenantId } = yield* world()
      const { accountId } = portfolio.flow.authorization.chains[0]!
      const { operationId } = yield* submit(tenantId, portfolioId)
      const swap = yield* acceptSwap({ tenantId, portfolioId }, accountId, { amountRaw: 70n })
      const message = yield* messageOf({ tenantId, portfolioId }, accountId, { assets: [[weth, 5n]] })
      const withdrawal = yield* acceptWithdrawal({ tenantId, portfolioId }, { accountId, message })
      const reserved = Effect.map(store.context(operationId), (context) => Option.getOrThrow(context).reserved)
      assert.sameDeepMembers(
        [...(yield* reserved)],
        [
          { assetId: weth, raw: 5n },
          { assetId: baseUsdc.assetId, raw: 70n }
        ]
      )
      const sql = yield* SqlClient.SqlClient
      for (const ended of [swap, withdrawal]) {
        yield* sql`UPDATE operations SET state = 'completed', finished_at = updated_at WHERE operation_id = ${ended}`
      }
      assert.deepStrictEqual(yield* reserved, [])
    })
  )

  it.effect("finishes a run once, report, state, version and time together, and answers its portfolio each time", () =>
    Effect.gen(function* () {
      const store = yield* RunStore
      const operations = yield* OperationStore
      const portfolios = yield* PortfolioStore
      const { portfolioId, tenantId } = yield* world()
      const { operationId } = yield* submit(tenantId, portfolioId)
      assert.isTrue(Option.isNone(yield* store.report(operationId)))
      yield* operations.transition({ operationId, to: "running", at: after(1), error: null })
      const end = { operationId, strategyVersion: 3, at: after(2), error: null, report: { legs: [], note: "a\0b" } }
      assert.strictEqual(yield* store.finish(end), portfolioId)
      assert.strictEqual(yield* store.finish({ ...end, at: after(3), error: "too late", report: {} }), portfolioId)
      assert.deepStrictEqual(yield* store.report(operationId), Option.some({ legs: [], note: "a\uFFFDb" }))
      const operation = Option.getOrThrow(yield* operations.find(tenantId, portfolioId, operationId))
      assert.deepStrictEqual([operation.state, operation.finishedAt, operation.error], ["completed", after(2), null])
      const portfolio = Option.getOrThrow(yield* portfolios.find(tenantId, portfolioId))
      assert.strictEqual(portfolio.strategyVersion, 3)
      assert.deepStrictEqual(portfolio.schedule?.lastRebalanceAt, after(2))
      assert.deepStrictEqual(portfolio.updatedAt, after(2))
      assert.strictEqual((yield* operations.events(operationId, 0, 10)).length, 3)
    })
  )

  it.effect("keeps the time of the last completed run when a later one fails", () =>
    Effect.gen(function* () {
      const store = yield* RunStore
      const operations = yield* OperationStore
      const { portfolioId, tenantId } = yield* world()
      const first = yield* submit(tenantId, portfolioId)
      yield* operations.transition({ operationId: first.operationId, to: "running", at: after(1), error: null })
      yield* store.finish({ operationId: first.operationId, strategyVersion: 1, at: after(2), error: null, report: {} })
      const second = yield* submit(tenantId, portfolioId, { now: after(3) })
      yield* store.finish({
        operationId: second.operationId,
        strategyVersion: 2,
        at: after(4),
        error: "no route",
        report: {}
      })
      const portfolio = Option.getOrThrow(yield* (yield* PortfolioStore).find(tenantId, portfolioId))
      assert.deepStrictEqual(portfolio.schedule?.lastRebalanceAt, after(2))
      assert.strictEqual(portfolio.strategyVersion, 2)
      assert.strictEqual(
        Option.getOrThrow(yield* operations.find(tenantId, portfolioId, second.operationId)).error,
        "no route"
      )
    })
  )

  for (const [when, concurrency] of [
    ["ends after it", 1],
    ["ends with it", "unbounded"]
  ] as const) {
    it.effect(`that waited for its owner takes nothing back of a later run when it ${when}`, () =>
      Effect.gen(function* () {
        const store = yield* RunStore
        const operations = yield* OperationStore
        const { portfolioId, tenantId } = yield* world()
        const { operationId } = yield* submit(tenantId, portfolioId)
        yield* operations.transition({ operationId, to: "running", at: after(1), error: null })
        yield* operations.transition({ operationId, to: "awaiting_user", at: after(2), error: null })
        // The schedule starts others while one waits.
        yield* (yield* SqlClient.SqlClient)`UPDATE schedules SET status = 'paused' WHERE portfolio_id <> ${portfolioId}`
        const [younger] = yield* claimDue(after(40 * 86_400_000), 1)
        yield* operations.transition({ operationId: younger!, to: "running", at: after(4), error: null })
        const ends: ReadonlyArray<RunEnd> = [
          { operationId: younger!, strategyVersion: 3, error: null, report: {}, at: after(5) },
          { operationId, strategyVersion: 1, error: "not signed", report: {}, at: after(5) }
        ]
        yield* Effect.forEach(ends, store.finish, { concurrency })
        const portfolio = Option.getOrThrow(yield* (yield* PortfolioStore).find(tenantId, portfolioId))
        assert.deepInclude(portfolio, { strategyVersion: 3, updatedAt: after(5) })
        assert.deepStrictEqual(portfolio.schedule?.lastRebalanceAt, after(5))
        const waited = Option.getOrThrow(yield* operations.find(tenantId, portfolioId, operationId))
        assert.strictEqual(waited.state, "failed")
      })
    )
  }

  it.effect("finishes once when many try, and refuses to complete a run that has not begun", () =>
    Effect.gen(function* () {
      const store = yield* RunStore
      const operations = yield* OperationStore
      const { portfolioId, tenantId } = yield* world()
      const { operationId } = yield* submit(tenantId, portfolioId)
      const end = { operationId, strategyVersion: 1, at: after(2), error: null, report: {} }
      assert.isTrue(Exit.hasDies(yield* Effect.exit(store.finish(end))))
      assert.isTrue(Exit.hasDies(yield* Effect.exit(store.finish({ ...end, operationId: yield* makeOperationId }))))
      yield* operations.transition({ operationId, to: "running", at: after(1), error: null })
      yield* Effect.replicateEffect(store.finish(end), 8, { concurrency: "unbounded" })
      assert.strictEqual((yield* operations.events(operationId, 0, 10)).length, 3)
    })
  )

  it.effect("spreads slices over the period that they began in, and is due at its end as if there had been none", () =>
    Effect.gen(function* () {
      const store = yield* RunStore
      const operations = yield* OperationStore
      const sql = yield* SqlClient.SqlClient
      const { portfolioId, tenantId } = yield* world()
      const minute = 60_000
      const hour = 60 * minute
      const day = 24 * hour
      const read = Effect.map(
        sql<{ readonly due_at: Date; readonly retries: number; readonly slices_until: Date | null }>`
          SELECT due_at, retries, slices_until FROM schedules WHERE portfolio_id = ${portfolioId}`,
        ([row]) => row!
      )
      /** A run that began and ended then; its drift check has moved the due time a period on. */
      const run = Effect.fnUntraced(function* (at: number, end: Partial<RunEnd>) {
        const { operationId } = yield* submit(tenantId, portfolioId, { now: after(at) })
        yield* operations.transition({ operationId, to: "running", at: after(at), error: null })
        yield* store.finish({ operationId, strategyVersion: 1, at: after(at), error: null, report: {}, ...end })
        return yield* read
      })
      const moveDue = (at: number) =>
        sql`UPDATE schedules SET due_at = ${new Date(after(at).epochMilliseconds + day)}
          WHERE portfolio_id = ${portfolioId}`
      const within = (due: Date, from: number, to: number) => {
        assert.isTrue(due.getTime() >= after(from).epochMilliseconds, due.toISOString())
        assert.isTrue(due.getTime() <= after(to).epochMilliseconds, due.toISOString())
      }

      // A run that got no answer is no slice.
      yield* moveDue(-hour)
      const unanswered = yield* run(-hour, { isIncomplete: true })
      within(unanswered.due_at, 0.8 * minute - hour, 1.2 * minute - hour)
      assert.deepStrictEqual([unanswered.retries, unanswered.slices_until], [1, null])

      yield* moveDue(0)
      const sliced = { isIncomplete: true, slices: { left: 40 } }
      const first = yield* run(0, sliced)
      within(first.due_at, (0.8 * day) / 41, day / 41)
      assert.deepStrictEqual([first.retries, first.slices_until], [1, new Date(after(day).epochMilliseconds)])

      // The second drift check counts from its own time, the slices from the first.
      yield* moveDue(hour)
      const second = yield* run(hour, { isIncomplete: true, slices: { left: 1 } })
      within(second.due_at, 1.8 * hour, 2 * hour)
      assert.deepStrictEqual(second.slices_until, first.slices_until)

      // A market that takes nothing now is tried again within an hour, however often that was in vain.
      for (const [at, retries] of [
        [2, 2],
        [3, 3],
        [4, 4],
        [5, 5],
        [6, 6]
      ] as const) {
        yield* moveDue(at * hour)
        const waiting = yield* run(at * hour, { isIncomplete: true, slices: { left: 0 } })
        within(waiting.due_at, at * hour, (at + 1) * hour)
        assert.strictEqual(waiting.retries, retries)
      }

      yield* moveDue(7 * hour)
      const last = yield* run(7 * hour, {})
      assert.deepStrictEqual([last.due_at, last.retries, last.slices_until], [first.slices_until, 0, null])
    })
  )

  it.effect("keeps who else may move assets: an event for each that is new, and none once a run finds it gone", () =>
    Effect.gen(function* () {
      const store = yield* RunStore
      const portfolios = yield* PortfolioStore
      const due = yield* DueStore
      const operations = yield* OperationStore
      const { portfolioId, tenantId } = yield* world()
      const known = Effect.map(portfolios.find(tenantId, portfolioId), (detail) =>
        Option.getOrThrow(detail).facts.authorities.map(({ assetId, holder, since }) => [assetId, holder, since])
      )
      const events = Effect.map((yield* TenantEventLog).read(tenantId, 0, 100), (all) =>
        all.flatMap(({ body }) => (body.type === "portfolio.foreign_authority" ? [body.data] : []))
      )
      const run = Effect.fnUntraced(function* (second: number, authorities?: RunEnd["authorities"]) {
        const { operationId } = yield* submit(tenantId, portfolioId, { now: after(second) })
        yield* operations.transition({ operationId, to: "running", at: after(second), error: null })
        yield* store.finish({
          operationId,
          strategyVersion: 1,
          at: after(second),
          error: null,
          report: {},
          ...(authorities === undefined ? {} : { authorities })
        })
        return yield* due.candidates([portfolioId])
      })
      const [one, two] = [
        { assetId: weth, holder: "thief" },
        { assetId: weth, holder: "another" }
      ]
      const { length: before } = yield* run(1, [])
      yield* run(2, [one])
      assert.isEmpty(yield* run(3, [one, two]), "its next check of drift is a run")
      assert.isEmpty(yield* run(4), "a run that could not see it changes nothing")
      assert.deepStrictEqual(yield* known, [
        [weth, "another", after(3)],
        [weth, "thief", after(2)]
      ])
      assert.deepStrictEqual(yield* events, [one, two])
      assert.lengthOf(yield* run(5, []), before)
      assert.isEmpty(yield* known)
      yield* run(6, [one])
      assert.deepStrictEqual(yield* events, [one, two, one])
    })
  )
})

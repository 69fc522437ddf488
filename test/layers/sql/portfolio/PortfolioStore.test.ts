import { assert } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { ScheduleStatus } from "#domain/portfolio/Portfolio.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { readingWaits, receiptWaits } from "#domain/operation/waits.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { makePortfolioId } from "#domain/values/Ids.ts"
import { eachDatabase } from "#test/support/database.ts"
import { after, insertPortfolio, insertStrategy, insertTenant, noon, submit, world } from "#test/layers/sql/fixtures.ts"

eachDatabase("PortfolioStore", (it) => {
  it.effect("finds a portfolio with its strategy, accounts and schedule", () =>
    Effect.gen(function* () {
      const { portfolio, portfolioId, strategy, tenantId } = yield* world("weekly")
      const found = Option.getOrThrow(yield* (yield* PortfolioStore).find(tenantId, portfolioId))
      assert.deepStrictEqual(found, {
        portfolioId,
        tenantId,
        name: "Savings",
        ownerAccountId: portfolio.flow.authorization.ownerAccountId,
        strategyId: strategy.strategyId,
        strategyName: "Blue chips",
        strategyDescription: "Half and half",
        strategyVersion: 1,
        smartAccounts: portfolio.flow.authorization.chains.map((chain) => chain.accountId),
        guardedAccounts: [],
        schedule: {
          status: "active",
          pauseReason: null,
          pauseNote: null,
          frequency: "weekly",
          nextDueAt: after(5_000),
          lastRebalanceAt: null,
          lastCheckedAt: null
        },
        createdAt: noon,
        updatedAt: noon,
        activeOperationId: null,
        lastOperation: null,
        facts: {
          portfolioId,
          createdAt: noon,
          revokedAt: null,
          permissionEndsAt: null,
          isGuarded: false,
          awaited: [],
          authorities: [],
          lastRun: null,
          openTransfers: [],
          unclear: []
        }
      })
    })
  )

  it.effect("says of an operation that waits for a chain's answer why it does, for as long as it does", () =>
    Effect.gen(function* () {
      const store = yield* PortfolioStore
      const operations = yield* OperationStore
      const { portfolioId, tenantId } = yield* world()
      const { operationId } = yield* submit(tenantId, portfolioId)
      const unclear = Effect.map(store.find(tenantId, portfolioId), (found) => Option.getOrThrow(found).facts.unclear)
      const enter = (to: "running" | "retrying", at: number) =>
        operations.transition({ operationId, to, at: after(at), error: null })
      yield* enter("running", 1)
      yield* enter("retrying", 2)
      assert.deepStrictEqual(yield* unclear, [], "it waits for something else")
      yield* operations.append({ operationId, at: after(3), kind: receiptWaits, payload: { reason: "no word yet" } })
      assert.deepStrictEqual(yield* unclear, [
        { operationId, waitsFor: "outcome", since: after(2), reason: "no word yet" }
      ])
      yield* operations.append({ operationId, at: after(3), kind: readingWaits, payload: { reason: "nodes behind" } })
      assert.deepStrictEqual(yield* unclear, [
        { operationId, waitsFor: "reading", since: after(2), reason: "nodes behind" }
      ])
      yield* enter("running", 4)
      assert.deepStrictEqual(yield* unclear, [])
      yield* enter("retrying", 5)
      assert.deepStrictEqual(yield* unclear, [], "the next wait has a reason of its own")
    })
  )

  it.effect("hides unknown portfolios and those of other tenants", () =>
    Effect.gen(function* () {
      const store = yield* PortfolioStore
      const { portfolioId, tenantId } = yield* world()
      const stranger = yield* insertTenant
      assert.isTrue(Option.isNone(yield* store.find(stranger, portfolioId)))
      assert.isTrue(Option.isNone(yield* store.find(tenantId, yield* makePortfolioId)))
      assert.isTrue(
        Option.isNone(yield* store.update({ tenantId: stranger, portfolioId, patch: { name: "mine" }, at: noon }))
      )
      assert.isTrue(Option.isNone(yield* store.stop(stranger, portfolioId, { at: noon, note: null })))
      assert.isTrue(Option.isNone(yield* store.start(stranger, portfolioId, noon)))
      const untouched = Option.getOrThrow(yield* store.find(tenantId, portfolioId))
      assert.strictEqual(untouched.name, "Savings")
      assert.strictEqual(untouched.schedule?.status, "active")
    })
  )

  it.effect("answers no schedule for a portfolio without one, and leaves it so", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* PortfolioStore
      const { portfolioId, tenantId } = yield* world()
      yield* sql`DELETE FROM schedules WHERE portfolio_id = ${portfolioId}`
      assert.isNull(Option.getOrThrow(yield* store.start(tenantId, portfolioId, noon)).schedule)
      assert.isNull(Option.getOrThrow(yield* store.stop(tenantId, portfolioId, { at: noon, note: null })).schedule)
    })
  )

  it.effect("renames, and clears a name", () =>
    Effect.gen(function* () {
      const store = yield* PortfolioStore
      const { portfolioId, tenantId } = yield* world()
      const renamed = Option.getOrThrow(
        yield* store.update({ tenantId, portfolioId, patch: { name: "Ferien 🏖" }, at: after(1) })
      )
      assert.strictEqual(renamed.name, "Ferien 🏖")
      assert.deepStrictEqual(renamed.updatedAt, after(1))
      assert.isNull(
        Option.getOrThrow(yield* store.update({ tenantId, portfolioId, patch: { name: null }, at: after(2) })).name
      )
    })
  )

  it.effect("stops keeping the due time, and starts with a new one; repeating changes nothing", () =>
    Effect.gen(function* () {
      const store = yield* PortfolioStore
      const { portfolioId, tenantId } = yield* world()
      const stopped = Option.getOrThrow(yield* store.stop(tenantId, portfolioId, { at: after(10), note: null }))
      assert.strictEqual(stopped.schedule?.status, "paused")
      assert.deepStrictEqual(stopped.schedule?.nextDueAt, after(5_000))
      assert.deepStrictEqual(stopped.updatedAt, after(10))
      assert.deepStrictEqual(
        Option.getOrThrow(yield* store.stop(tenantId, portfolioId, { at: after(20), note: null })),
        stopped
      )

      const started = Option.getOrThrow(yield* store.start(tenantId, portfolioId, after(30)))
      assert.strictEqual(started.schedule?.status, "active")
      assert.deepStrictEqual(started.schedule?.nextDueAt, after(30))
      assert.deepStrictEqual(Option.getOrThrow(yield* store.start(tenantId, portfolioId, after(40))), started)
    })
  )

  it.effect("lets racing starts and stops each answer the state they made", () =>
    Effect.gen(function* () {
      const store = yield* PortfolioStore
      const { portfolioId, tenantId } = yield* world()
      const call = (n: number): Effect.Effect<readonly [ScheduleStatus, ScheduleStatus | undefined]> =>
        n % 2 === 0
          ? Effect.map(store.start(tenantId, portfolioId, after(n)), (p) => [
              "active",
              Option.getOrThrow(p).schedule?.status
            ])
          : Effect.map(store.stop(tenantId, portfolioId, { at: after(n), note: null }), (p) => [
              "paused",
              Option.getOrThrow(p).schedule?.status
            ])
      const answers = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, n) => n),
        call,
        { concurrency: "unbounded" }
      )
      for (const [wanted, answered] of answers) assert.strictEqual(answered, wanted)
    })
  )

  it.effect("lists newest first, page by page, without repeating or missing rows of one moment", () =>
    Effect.gen(function* () {
      const store = yield* PortfolioStore
      const tenantId = yield* insertTenant
      const strategy = yield* insertStrategy(tenantId)
      const ids: Array<string> = []
      for (let n = 0; n < 7; n++)
        ids.push((yield* insertPortfolio(strategy, { createdAt: after(Math.floor(n / 3)) })).portfolioId)

      const first = yield* store.list(tenantId, {}, { limit: 4, after: null })
      assert.strictEqual(first.length, 5)
      const last = first[3]!
      const second = yield* store.list(
        tenantId,
        {},
        { limit: 4, after: { createdAt: last.createdAt, id: last.portfolioId } }
      )
      assert.deepStrictEqual(
        [...first.slice(0, 4), ...second].map((p) => p.portfolioId),
        ids.toReversed()
      )
    })
  )

  it.effect("filters by owner, strategy and status together with paging", () =>
    Effect.gen(function* () {
      const store = yield* PortfolioStore
      const tenantId = yield* insertTenant
      const strategy = yield* insertStrategy(tenantId)
      const other = yield* insertStrategy(tenantId)
      const a = yield* insertPortfolio(strategy)
      const b = yield* insertPortfolio(strategy, { createdAt: after(1) })
      const c = yield* insertPortfolio(other, { createdAt: after(2) })
      yield* store.stop(tenantId, b.portfolioId, { at: after(3), note: null })
      const ids = (
        filter: Parameters<typeof store.list>[1],
        cursor: Parameters<typeof store.list>[2]["after"] = null
      ) =>
        Effect.map(store.list(tenantId, filter, { limit: 10, after: cursor }), (rows) => rows.map((p) => p.portfolioId))
      assert.deepStrictEqual(yield* ids({}), [c.portfolioId, b.portfolioId, a.portfolioId])
      assert.deepStrictEqual(yield* ids({ strategyId: strategy.strategyId }), [b.portfolioId, a.portfolioId])
      assert.deepStrictEqual(yield* ids({ ownerAccountId: c.flow.authorization.ownerAccountId }), [c.portfolioId])
      assert.deepStrictEqual(yield* ids({ status: "paused" }), [b.portfolioId])
      assert.deepStrictEqual(yield* ids({ status: "active" }), [c.portfolioId, a.portfolioId])
      assert.deepStrictEqual(yield* ids({ status: "active" }, { createdAt: after(2), id: c.portfolioId }), [
        a.portfolioId
      ])
      assert.deepStrictEqual(yield* ids({ status: "active", strategyId: strategy.strategyId }), [a.portfolioId])
      assert.deepStrictEqual(
        yield* ids({
          status: "paused",
          strategyId: strategy.strategyId,
          ownerAccountId: a.flow.authorization.ownerAccountId
        }),
        []
      )
    })
  )

  it.effect("leaves archived portfolios out of lists", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { portfolioId, tenantId } = yield* world()
      yield* sql`UPDATE portfolios SET archived_at = ${DateTime.toDateUtc(noon)} WHERE portfolio_id = ${portfolioId}`
      const store = yield* PortfolioStore
      assert.deepStrictEqual(yield* store.list(tenantId, {}, { limit: 10, after: null }), [])
      assert.deepStrictEqual(yield* store.list(tenantId, { status: "active" }, { limit: 10, after: null }), [])
    })
  )
})

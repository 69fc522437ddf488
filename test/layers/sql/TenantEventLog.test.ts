/** The log of a tenant's events: whole, in one order, whoever writes and reads at once. */
import { assert } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { TenantEvent } from "#domain/event/TenantEvent.ts"
import { TenantEventLog } from "#domain/event/TenantEventLog.ts"
import { makeOperationId } from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { eachDatabase } from "#test/support/database.ts"
import { after, insertPortfolio, insertTenant, noon, world } from "#test/layers/sql/fixtures.ts"

const typesOf = (events: ReadonlyArray<TenantEvent>) => events.map(({ body }) => body.type)

eachDatabase("TenantEventLog", (it) => {
  it.effect("has what happened to a strategy, a portfolio and an operation, in order and typed", () =>
    Effect.gen(function* () {
      const log = yield* TenantEventLog
      const portfolios = yield* PortfolioStore
      const operations = yield* OperationStore
      const { portfolioId, tenantId } = yield* world()
      yield* portfolios.update({ tenantId, portfolioId, patch: { name: "Pension" }, at: after(10) })
      yield* portfolios.update({ tenantId, portfolioId, patch: { name: "Pension" }, at: after(11) })
      yield* portfolios.stop(tenantId, portfolioId, { at: after(12), note: null })
      yield* portfolios.start(tenantId, portfolioId, after(13))
      const operationId = yield* makeOperationId
      yield* operations.submitManual({ operationId, tenantId, portfolioId, now: after(14), cooldownMs: 0 })
      yield* operations.transition({ operationId, to: "running", at: after(15), error: null })
      yield* operations.append({ operationId, at: after(16), kind: "withdrawal_waits", payload: { reason: "slow" } })
      yield* operations.transition({ operationId, to: "failed", at: after(17), error: "the chain said no" })
      const events = yield* log.read(tenantId, 0, 100)
      assert.deepStrictEqual(typesOf(events), [
        "strategy.created",
        "enrollment.started",
        "portfolio.enrolled",
        "portfolio.renamed",
        "portfolio.paused",
        "portfolio.started",
        "operation.state_changed",
        "operation.state_changed",
        "operation.progressed",
        "operation.state_changed"
      ])
      assert.deepStrictEqual(
        events.map(({ sequence }) => sequence),
        events.map((_, index) => index + 1)
      )
      const last = events.at(-1)!
      assert.deepInclude(last, { operationId, portfolioId })
      assert.deepStrictEqual(last.body, {
        type: "operation.state_changed",
        data: {
          kind: "rebalance",
          trigger: "manual",
          sequence: 4,
          state: "failed",
          error: "the chain said no",
          outcome: null
        }
      })
      assert.deepStrictEqual(yield* log.range(tenantId), { first: 1, last: 10 })
      assert.deepStrictEqual(yield* log.read(tenantId, 8, 100), events.slice(8))
      const stranger = yield* insertTenant
      assert.deepStrictEqual(yield* log.read(stranger, 0, 100), [])
      const seen = (sequence: number) => log.grown([tenantId, stranger].map((id) => ({ tenantId: id, sequence })))
      assert.deepStrictEqual(yield* seen(9), [tenantId])
      assert.deepStrictEqual(yield* seen(10), [])
      yield* portfolios.update({ tenantId, portfolioId, patch: { name: null }, at: after(18) })
      assert.deepStrictEqual(yield* seen(10), [tenantId], "before it has its number too")
    })
  )

  it.effect("of many writers and readers at once every reader sees the same events, each once, without a gap", () =>
    Effect.gen(function* () {
      const log = yield* TenantEventLog
      const operations = yield* OperationStore
      const { strategy, tenantId } = yield* world()
      const before = (yield* log.range(tenantId)).last
      const count = 20
      const write = Effect.gen(function* () {
        const { portfolioId } = yield* insertPortfolio(strategy)
        const operationId = yield* makeOperationId
        yield* operations.submitManual({ operationId, tenantId, portfolioId, now: noon, cooldownMs: 0 })
        yield* operations.transition({ operationId, to: "running", at: noon, error: null })
        yield* operations.transition({ operationId, to: "completed", at: noon, error: null })
        return operationId
      })
      /** Reads on from what it has until all have ended. */
      const follow = Effect.gen(function* () {
        const seen: Array<TenantEvent> = []
        for (let ended = 0; ended < count;) {
          const page = yield* log.read(tenantId, seen.at(-1)?.sequence ?? before, 7)
          seen.push(...page)
          ended += page.filter(({ body }) => {
            return body.type === "operation.state_changed" && body.data.state === "completed"
          }).length
          if (page.length === 0) yield* Effect.yieldNow
        }
        return seen
      })
      const [written, ...readers] = yield* Effect.all(
        [
          Effect.forEach(Array.from({ length: count }), () => write, { concurrency: 8 }),
          follow,
          follow,
          follow
        ] as const,
        { concurrency: "unbounded" }
      )
      const [first, ...others] = readers
      for (const other of others) assert.deepStrictEqual(other, first)
      assert.deepStrictEqual(
        first.map(({ sequence }) => sequence),
        first.map((_, index) => before + index + 1)
      )
      for (const operationId of written) {
        const own = first.flatMap(({ body, operationId: id }) =>
          id === operationId && body.type === "operation.state_changed" ? [body.data.sequence] : []
        )
        assert.deepStrictEqual(own, [1, 2, 3], "each operation's events are in its own order")
      }
    })
  )

  it.effect("what is old is removed, and the rest keeps its numbers", () =>
    Effect.gen(function* () {
      const log = yield* TenantEventLog
      const sql = yield* SqlClient.SqlClient
      const { tenantId } = yield* world()
      const { last } = yield* log.range(tenantId)
      yield* sql`UPDATE tenant_events SET at = '2001-01-01T00:00:00Z' WHERE tenant_id = ${tenantId}
        AND sequence < ${last}`
      const old = DateTime.makeUnsafe("2002-01-01T00:00:00Z")
      assert.strictEqual(yield* log.prune(old, 1), 1)
      yield* log.prune(old, 1_000)
      assert.deepStrictEqual(yield* log.range(tenantId), { first: last, last })
      assert.deepStrictEqual(
        (yield* log.read(tenantId, 0, 10)).map(({ sequence }) => sequence),
        [last]
      )
    })
  )
})

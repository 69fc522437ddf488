import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { OperationId, PortfolioId } from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { RunStore } from "#domain/rebalance/RunStore.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { eachDatabase } from "#test/support/database.ts"
import {
  after,
  claimDue,
  insertPortfolio,
  insertStrategy,
  insertTenant,
  noon,
  submit
} from "#test/layers/sql/fixtures.ts"

const hour = 3_600_000
const rounds = 12

eachDatabase("Stores under mixed load", (it) => {
  it.effect("neither deadlock nor break an invariant", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const operations = yield* OperationStore
      const portfolios = yield* PortfolioStore
      const runs = yield* RunStore
      const strategies = yield* StrategyStore
      const tenantId = yield* insertTenant
      const strategy = yield* insertStrategy(tenantId, "hourly")
      const all = yield* Effect.forEach(Array.from({ length: 8 }), () => insertPortfolio(strategy, { dueAt: noon }))
      const ids = all.map((portfolio) => portfolio.portfolioId)

      const run = Effect.fnUntraced(function* (operationId: OperationId, at: number) {
        yield* operations.transition({ operationId, to: "running", at: after(at), error: null })
        yield* operations.append({ operationId, at: after(at), kind: "planned", payload: {} })
        yield* runs.finish({
          operationId,
          strategyVersion: 1,
          at: after(at),
          error: at % 2 === 0 ? null : "no route",
          report: {}
        })
      })
      const schedule = Effect.fnUntraced(function* (round: number) {
        const claimed = yield* claimDue(after(round * hour), 3)
        yield* Effect.forEach(claimed, (id) => run(id, round * hour), { concurrency: "unbounded" })
      })
      const trigger = Effect.fnUntraced(function* (portfolioId: PortfolioId, round: number) {
        const { operationId, submission } = yield* submit(tenantId, portfolioId, { now: after(round * hour) })
        if (submission._tag === "Submitted") yield* run(operationId, round * hour)
      })
      const work = (round: number) => [
        schedule(round),
        schedule(round),
        ...ids.map((id) => trigger(id, round)),
        portfolios.stop(tenantId, ids[round % ids.length]!, { at: after(round * hour), note: null }),
        portfolios.start(tenantId, ids[round % ids.length]!, after(round * hour)),
        portfolios.update({
          tenantId,
          portfolioId: ids[round % ids.length]!,
          patch: { name: `Round ${round}` },
          at: after(round * hour)
        }),
        strategies.publish({
          strategyId: strategy.strategyId,
          allocation: strategy.allocation,
          changeLog: null,
          createdAt: noon
        })
      ]
      const everything = Array.from({ length: rounds }, (_, round) => work(round)).flat()
      yield* Effect.all(everything, { concurrency: "unbounded", discard: true })

      const left = yield* sql`SELECT 1 FROM operations WHERE tenant_id = ${tenantId} AND finished_at IS NULL`
      assert.deepStrictEqual(left, [])
      const gaps = yield* sql`
        SELECT o.operation_id FROM operations o JOIN operation_events e USING (operation_id)
        WHERE o.tenant_id = ${tenantId}
        GROUP BY o.operation_id, o.last_sequence
        HAVING count(*) <> o.last_sequence OR min(e.sequence) <> 1 OR max(e.sequence) <> o.last_sequence`
      assert.deepStrictEqual(gaps, [])
      const unreported = yield* sql`
        SELECT 1 FROM operations o LEFT JOIN rebalance_runs r USING (operation_id) WHERE o.tenant_id = ${tenantId}
        AND r.report IS NULL`
      assert.deepStrictEqual(unreported, [])
      const head = Option.getOrThrow(yield* strategies.find(strategy.strategyId))
      assert.strictEqual(head.version, 1 + rounds)
    })
  )
})

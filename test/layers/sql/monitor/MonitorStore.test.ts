/** Monitors in their tables: what the tables do by themselves is what the transitions say. */
import { assert } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import * as Decimal from "#domain/values/Decimal.ts"
import { makeOperationId, makeWorkflowId, type PortfolioId, type WorkflowId } from "#domain/values/Ids.ts"
import type { Monitor, MonitorState } from "#domain/monitor/Monitor.ts"
import { MonitorStore } from "#domain/monitor/MonitorStore.ts"
import * as Transitions from "#domain/monitor/transitions.ts"
import type { Trigger } from "#domain/monitor/Trigger.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { eachDatabase } from "#test/support/database.ts"
import { after, insertPortfolio, insertStrategy, insertTenant, noon, usdc, weth } from "#test/layers/sql/fixtures.ts"

const trigger: Trigger = {
  kind: "market_price",
  assetId: weth,
  comparison: "above",
  threshold: 2_600n * Decimal.one,
  hysteresis: Decimal.one
}

const found = (workflowId: WorkflowId) =>
  Effect.flatMap(MonitorStore, (store) => Effect.map(store.find(workflowId), Option.getOrThrow))

const created = Effect.fnUntraced(function* (
  portfolioId: PortfolioId,
  state = Transitions.begin({ kind: "triggered" }, noon, noon)
) {
  const store = yield* MonitorStore
  const workflowId = yield* makeWorkflowId
  const workflow = { workflowId, portfolioId, title: "T", kind: "triggered", trigger, everyMs: null } as const
  assert.strictEqual(yield* store.insert({ ...workflow, isRepeated: true, status: "active" }, state, noon), "inserted")
  return yield* found(workflowId)
})

const matched = { _tag: "trigger_matched", event: { kind: "market_price", summary: "dear" } } as const

/** Starts the run of a monitor that waits for its trigger. */
const started = Effect.fnUntraced(function* (monitor: Monitor) {
  const store = yield* MonitorStore
  const operationId = yield* makeOperationId
  const ready = Transitions.wake(monitor.state, matched, noon)!
  const fired = Transitions.start(ready, noon)!
  const advanced = yield* store.advance([
    {
      monitor,
      at: noon,
      next: Transitions.awaitTrigger(ready, noon, { isArmed: false, isKnown: true }),
      start: {
        operationId,
        firedBy: { workflowId: monitor.workflow.workflowId, kind: "market_price", summary: "dear" },
        started: (id, isOwn) =>
          Transitions.awaitExecution(
            fired,
            { execution: { operationId: id, requestId: "r" }, isOwn },
            noon
          ) as MonitorState
      }
    }
  ])
  return { operationId, advanced }
})

const portfolioWith = (frequency: "daily" = "daily") =>
  Effect.gen(function* () {
    const tenantId = yield* insertTenant
    const strategy = yield* insertStrategy(tenantId, frequency)
    return { tenantId, strategy, ...(yield* insertPortfolio(strategy, { dueAt: after(86_400_000) })) }
  })

const ofStrategy = (portfolioId: string) => portfolioId.replace("pf_", "wf_") as WorkflowId

eachDatabase("MonitorStore", (it) => {
  it.effect("the end of an operation wakes who waits for it as the transition does, in the same commit", () =>
    Effect.gen(function* () {
      const operations = yield* OperationStore
      const { portfolioId } = yield* portfolioWith()
      for (const end of ["completed", "failed", "cancelled"] as const) {
        const monitor = yield* created(portfolioId)
        const { advanced, operationId } = yield* started(monitor)
        assert.deepStrictEqual(advanced, [{ workflowId: monitor.workflow.workflowId, launch: operationId }])
        const waiting = yield* found(monitor.workflow.workflowId)
        assert.strictEqual(waiting.state.wait, "execution")
        const at = after(60_000)
        yield* operations.transition({ operationId, to: "running", at, error: null })
        yield* operations.transition({ operationId, to: end, at, error: end === "completed" ? null : "why" })
        const woken = yield* found(monitor.workflow.workflowId)
        const event = { _tag: "execution_completed", operationId, state: end, outcome: null } as const
        assert.deepStrictEqual(woken.state, Transitions.wake(waiting.state, event, at))
        yield* (yield* MonitorStore).remove(monitor.workflow.workflowId)
      }
    })
  )

  it.effect("a second workflow of a portfolio waits for the run that is under way, and stays armed", () =>
    Effect.gen(function* () {
      const { portfolioId } = yield* portfolioWith()
      const [one, other] = [yield* created(portfolioId), yield* created(portfolioId)]
      const first = yield* started(one)
      const second = yield* started(other)
      assert.deepStrictEqual(second.advanced, [{ workflowId: other.workflow.workflowId, launch: null }])
      const { state } = yield* found(other.workflow.workflowId)
      assert.strictEqual(state.execution?.operationId, first.operationId)
      assert.isTrue(state.isArmed)
      assert.deepStrictEqual(state.linkedOperationIds, [])
    })
  )

  it.effect("a change of a state that is not the present one does nothing", () =>
    Effect.gen(function* () {
      const store = yield* MonitorStore
      const { portfolioId } = yield* portfolioWith()
      const monitor = yield* created(portfolioId)
      const next = Transitions.awaitTrigger(monitor.state, noon, { isArmed: false, isKnown: true })
      assert.lengthOf(yield* store.advance([{ monitor, at: noon, next }]), 1)
      assert.lengthOf(yield* store.advance([{ monitor, at: noon, next: monitor.state }]), 0)
      assert.deepStrictEqual((yield* found(monitor.workflow.workflowId)).state, next)
    })
  )

  it.effect("what is claimed is claimed by no other process until its time is over", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* MonitorStore
      yield* sql`DELETE FROM workflow_monitors`
      const { portfolioId } = yield* portfolioWith()
      const { workflow } = yield* created(portfolioId)
      const ids = (monitors: ReadonlyArray<Monitor>) => monitors.map((monitor) => monitor.workflow.workflowId)
      assert.deepStrictEqual(ids(yield* store.claim(after(-1), after(9), 10)), [])
      assert.deepStrictEqual(ids(yield* store.claim(noon, after(10), 10)), [workflow.workflowId])
      assert.deepStrictEqual(ids(yield* store.claim(after(9), after(20), 10)), [])
      assert.deepStrictEqual(ids(yield* store.due(after(9), 10)), [workflow.workflowId])
      assert.deepStrictEqual(ids(yield* store.claim(after(10), after(20), 10)), [workflow.workflowId])
    })
  )

  it.effect("a price wakes those whose range it leaves, each once, and no others", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* MonitorStore
      yield* sql`DELETE FROM workflow_monitors`
      const { portfolioId } = yield* portfolioWith()
      const [above, below, other] = [
        yield* created(portfolioId),
        yield* created(portfolioId),
        yield* created(portfolioId)
      ]
      const later = (monitor: Monitor) =>
        Transitions.awaitTrigger(monitor.state, noon, { isArmed: true, isKnown: true })
      const watch = (assetId: typeof weth, low: bigint | null, high: bigint | null) => [{ assetId, low, high }]
      yield* store.advance([
        { monitor: above, at: noon, next: later(above), watches: watch(weth, null, 2_600n * Decimal.one) },
        { monitor: below, at: noon, next: later(below), watches: watch(weth, 2_400n * Decimal.one, null) },
        { monitor: other, at: noon, next: later(other), watches: watch(usdc, Decimal.one, 2n * Decimal.one) }
      ])
      assert.sameMembers([...(yield* store.watched)], [weth, usdc])
      const touch = (usd: bigint, at: DateTime.Utc) => store.touch(new Map([[weth, usd]]), at)
      assert.strictEqual(yield* touch(2_600n * Decimal.one - 1n, after(1)), 0)
      assert.strictEqual(yield* touch(2_400n * Decimal.one + 1n, after(1)), 0)
      assert.strictEqual(yield* touch(2_600n * Decimal.one, after(2)), 1)
      assert.strictEqual(yield* touch(2_700n * Decimal.one, after(3)), 0)
      assert.strictEqual(yield* touch(2_400n * Decimal.one, after(4)), 1)
      assert.deepStrictEqual((yield* found(above.workflow.workflowId)).state.nextCheckAt, after(2))
      assert.deepStrictEqual((yield* found(below.workflow.workflowId)).state.nextCheckAt, after(4))
      assert.deepStrictEqual((yield* found(other.workflow.workflowId)).state.nextCheckAt, after(900_000))
    })
  )

  it.effect("a portfolio has its monitor from its enrollment, unless its tenant only mirrors the strategy", () =>
    Effect.gen(function* () {
      const store = yield* MonitorStore
      const sql = yield* SqlClient.SqlClient
      const strategies = yield* StrategyStore
      const tenantId = yield* insertTenant
      const strategy = yield* insertStrategy(tenantId)
      const triggers = { drift: { band: { kind: "absolute" as const, width: 500 } } }
      yield* strategies.update({ tenantId, strategyId: strategy.strategyId }, { triggers })
      const { portfolioId } = yield* insertPortfolio(strategy)
      const { workflow } = yield* found(ofStrategy(portfolioId))
      assert.deepStrictEqual(workflow.trigger, { kind: "portfolio_drift_from_target", bands: triggers.drift })
      // A workflow of a strategy ends with the strategy's triggers alone.
      assert.isFalse(yield* store.remove(workflow.workflowId))
      const mirror = yield* insertPortfolio({ ...strategy, tenantId: yield* insertTenant })
      assert.isTrue(Option.isNone(yield* store.find(ofStrategy(mirror.portfolioId))))
      while (yield* store.follow(noon)) yield* Effect.void
      assert.isTrue(Option.isNone(yield* store.find(ofStrategy(mirror.portfolioId))))
      yield* sql`UPDATE portfolios SET archived_at = ${DateTime.toDateUtc(noon)} WHERE portfolio_id = ${portfolioId}`
      assert.isTrue(Option.isNone(yield* store.find(ofStrategy(portfolioId))))
    })
  )
})

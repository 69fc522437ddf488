/** What is seen of work that does not move. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer, Logger, Metric } from "effect"
import { SqlClient } from "effect/sql"
import type { ChainId, EvmAddress } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import { ChainNodes, type NodeBehind } from "#domain/chain/ChainNodes.ts"
import { MachineClock } from "#domain/health/MachineClock.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { Readiness } from "#domain/health/Readiness.ts"
import { Scheduler } from "#domain/rebalance/Scheduler.ts"
import { RelayerFunds } from "#domain/relay/RelayerFunds.ts"
import { StallMonitor } from "#domain/relay/StallMonitor.ts"
import { submit, world } from "#test/layers/sql/fixtures.ts"
import { TestStores } from "#test/support/database.ts"

const relayer = "0x52908400098527886E0F7030069857D2E4169EE7" as EvmAddress
const [base, arbitrum] = [8453 as ChainId, 42161 as ChainId]

/** What each chain's relayer has; a chain without an entry does not answer. */
const balances = new Map<ChainId, bigint>()

const Funds = Layer.succeed(
  RelayerFunds,
  RelayerFunds.of({
    chains: [base, arbitrum],
    read: (chainId) => {
      const balance = balances.get(chainId)
      return balance === undefined
        ? Effect.fail(new ChainUnavailable({ chainId, reason: "down" }))
        : Effect.succeed([{ chainId, relayer, balance, isLow: balance < 10n ** 16n }])
    }
  })
)

const Ticking = Layer.mock(Scheduler, { lastTickAt: DateTime.now })

/** Endpoints that were seen to be behind. */
const behind: Array<NodeBehind> = []
const Nodes = Layer.succeed(ChainNodes, { behind: Effect.sync(() => [...behind]) })

const World = Readiness.layer.pipe(
  Layer.provideMerge(StallMonitor.layer),
  Layer.provideMerge(Nodes),
  Layer.provide([Funds, Ticking]),
  Layer.provideMerge(TestStores)
)

const steps = Effect.map(
  Effect.flatMap(Readiness, ({ check }) => check),
  ({ checks, ready }) => ({ ready, steps: checks["steps"]!, relayers: checks["relayers"]! })
)

/** Writes down what is logged. */
const collecting = (logged: Array<string>) =>
  Logger.layer([Logger.make(({ logLevel, message }) => logged.push(`${logLevel} ${String(message)}`))])

/** An operation that was accepted so many minutes ago, and entered these states one after the other just now. */
const standing = Effect.fnUntraced(function* (
  states: ReadonlyArray<"running" | "retrying" | "awaiting_user">,
  minutes: number
) {
  const operations = yield* OperationStore
  const sql = yield* SqlClient.SqlClient
  const { portfolioId, tenantId } = yield* world()
  const { operationId } = yield* submit(tenantId, portfolioId)
  const now = yield* DateTime.now
  const accepted = DateTime.toDateUtc(DateTime.subtract(now, { minutes }))
  yield* sql`UPDATE operations SET submitted_at = ${accepted} WHERE operation_id = ${operationId}`
  for (const to of states) yield* operations.transition({ operationId, to, at: now, error: null })
  return operations.transition({ operationId, to: "completed", at: now, error: null })
})

const gauge = (state: string) =>
  Effect.map(Metric.value(Metric.withAttributes(Metrics.oldestStepAge, { state })), ({ value }) => Number(value))

/** Layer of a machine whose clock is ahead. */
const skewed = (aheadMillis: number) =>
  Effect.flatMap(Readiness, ({ check }) => check).pipe(
    Effect.provide(
      Layer.fresh(Readiness.layer).pipe(
        Layer.provide(Layer.succeed(MachineClock, { aheadMillis: Effect.succeed(aheadMillis) })),
        Layer.provide(Ticking)
      )
    )
  )

layer(World, { excludeTestServices: true })("stuck work", (it) => {
  it.effect("a node that is behind its chain is named, and leaves the process ready", () =>
    Effect.gen(function* () {
      const nodes = Effect.map(
        Effect.flatMap(Readiness, ({ check }) => check),
        ({ checks, ready }) => ({ ready, ...checks["nodes"]! })
      )
      assert.deepStrictEqual(yield* nodes, { ready: true, ok: true, detail: "no node was seen to be behind its chain" })
      behind.push({ chainId: base, endpoint: 2, blocks: 7n })
      const detail = `behind: endpoint 2 of chain ${base} by 7 blocks`
      assert.deepStrictEqual(yield* nodes, { ready: true, ok: true, detail })
      behind.length = 0
    })
  )

  it.effect("an operation that does not end is logged, measured and an alarm, and leaves the process ready", () =>
    Effect.gen(function* () {
      const logged: Array<string> = []
      const inspect = Effect.flatMap(StallMonitor, ({ inspectSteps }) => inspectSteps).pipe(
        Effect.provide(collecting(logged))
      )
      const finish = yield* standing(["running"], 20)
      const stuck = yield* steps
      assert.isTrue(stuck.ready)
      assert.include(stuck.steps.detail, "oldest unfinished operation: 1200 s")
      assert.closeTo(yield* gauge("moving"), 1_200, 30)
      yield* inspect
      assert.strictEqual(logged.length, 1)
      assert.match(logged[0]!, /^Error An operation has not ended 12\d\d s after it was accepted/)
      yield* finish
      yield* inspect
      assert.strictEqual(logged.length, 1)
      assert.strictEqual(yield* gauge("moving"), 0)
    })
  )

  it.effect("an operation that does not begin stands since it was accepted, whatever time was written since", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { portfolioId, tenantId } = yield* world()
      const { operationId } = yield* submit(tenantId, portfolioId)
      const now = yield* DateTime.now
      yield* sql`
        UPDATE operations SET submitted_at = ${DateTime.toDateUtc(DateTime.subtract(now, { minutes: 20 }))},
          updated_at = ${DateTime.toDateUtc(DateTime.add(now, { days: 2 }))}
        WHERE operation_id = ${operationId}`
      assert.include((yield* steps).steps.detail, "oldest unfinished operation: 1200 s")
      yield* sql`DELETE FROM operation_events WHERE operation_id = ${operationId}`
      yield* sql`DELETE FROM operations WHERE operation_id = ${operationId}`
    })
  )

  it.effect("a portfolio that is due for long makes no process unready", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* world()
      yield* sql`UPDATE schedules SET due_at = timestamptz '2020-01-01T00:00:00Z'`
      const { checks, ready } = yield* Effect.flatMap(Readiness, ({ check }) => check)
      assert.isTrue(ready)
      assert.match(checks["due"]!.detail, /oldest due portfolio waits \d{8,} s/)
    })
  )

  it.effect("an operation that waits for a chain is measured, and leaves the process ready", () =>
    Effect.gen(function* () {
      const finish = yield* standing(["running", "retrying"], 300)
      const waiting = yield* steps
      assert.isTrue(waiting.steps.ok)
      assert.include(waiting.steps.detail, "waits for a chain: 18000 s")
      assert.closeTo(yield* gauge("retrying"), 18_000, 30)
      yield* finish
    })
  )

  it.effect("an operation that changes between states does not grow younger by it", () =>
    Effect.gen(function* () {
      const finishRunning = yield* standing(["running", "retrying", "running"], 40)
      const finishWaiting = yield* standing(["running", "retrying", "running", "retrying"], 90)
      yield* steps
      assert.closeTo(yield* gauge("moving"), 2_400, 30)
      assert.closeTo(yield* gauge("retrying"), 5_400, 30)
      yield* finishRunning
      yield* finishWaiting
      yield* steps
      assert.strictEqual(yield* gauge("moving"), 0)
      assert.strictEqual(yield* gauge("retrying"), 0)
    })
  )

  it.effect("an operation that waited for its owner is as old as its going on, in each state after it", () =>
    Effect.gen(function* () {
      const finishRunning = yield* standing(["running", "awaiting_user", "running"], 6 * 24 * 60)
      const finishWaiting = yield* standing(["running", "awaiting_user", "running", "retrying"], 6 * 24 * 60)
      yield* steps
      assert.closeTo(yield* gauge("moving"), 0, 30)
      assert.closeTo(yield* gauge("retrying"), 0, 30)
      yield* finishRunning
      yield* finishWaiting
    })
  )

  it.effect("what waits for its owner is no stuck work, for however many days", () =>
    Effect.gen(function* () {
      const finish = yield* standing(["running", "awaiting_user"], 6 * 24 * 60)
      const waiting = yield* steps
      assert.isTrue(waiting.steps.ok)
      assert.include(waiting.steps.detail, "oldest unfinished operation: 0 s, oldest that waits for a chain: 0 s")
      yield* finish
    })
  )

  it.effect("a relayer that runs out of gas raises an alarm that names chain and account", () =>
    Effect.gen(function* () {
      const logged: Array<string> = []
      const work = yield* StallMonitor
      const inspect = work.inspectFunds.pipe(Effect.provide(collecting(logged)))
      balances.set(base, 10n ** 17n).set(arbitrum, 10n ** 15n)
      yield* inspect
      assert.strictEqual(logged.length, 1)
      assert.match(logged[0]!, new RegExp(`^Error Relayer ${relayer} has 0.001 .*chain 42161`))
      assert.include((yield* steps).relayers.detail, "chains 42161")
      const attributes = { chain: "8453", relayer }
      assert.strictEqual((yield* Metric.value(Metric.withAttributes(Metrics.relayerBalance, attributes))).value, 0.1)

      balances.delete(arbitrum)
      yield* inspect
      assert.include((yield* steps).relayers.detail, "chains 42161")
      balances.set(arbitrum, 10n ** 18n)
      yield* inspect
      assert.notInclude((yield* steps).relayers.detail, "42161")
    })
  )

  it.effect("a process whose database only reads is not ready", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { check } = yield* Readiness
      assert.deepStrictEqual((yield* check).checks["database"], { ok: true, detail: "answers, and takes writes" })
      yield* sql`SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY`
      const { checks, ready } = yield* check
      yield* sql`SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE`
      assert.isFalse(ready)
      assert.deepStrictEqual(checks["database"], { ok: false, detail: "did not take a write and answer within 2s" })
      assert.isTrue((yield* check).ready)
    })
  )

  it.effect("a process whose machine's clock differs by more than two seconds is not ready and says so", () =>
    Effect.gen(function* () {
      assert.isTrue((yield* skewed(1_900)).ready)
      const ahead = yield* skewed(172_800_000)
      assert.isFalse(ahead.ready)
      assert.deepStrictEqual(ahead.checks["clock"], {
        ok: false,
        detail: "this machine's clock is 172800.0 s ahead of the shared time; set it right (NTP)"
      })
      const behind = yield* skewed(-2_100)
      assert.isFalse(behind.ready)
      assert.include(behind.checks["clock"]!.detail, "2.1 s behind the shared time")
    })
  )
})

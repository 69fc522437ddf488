/** Drift checks of due portfolios: which process claims them, and what is still true when they are completed. */
import { assert } from "@effect/vitest"
import { type DateTime, Effect, Option } from "effect"
import type { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { PortfolioId, TenantId } from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"
import { type Due, DueStore, type ClaimedDue } from "#domain/rebalance/DueStore.ts"
import { RunStore } from "#domain/rebalance/RunStore.ts"
import type { Strategy } from "#domain/strategy/Strategy.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { TenantConfigurationStore } from "#domain/tenant/TenantConfigurationStore.ts"
import { eachDatabase } from "#test/support/database.ts"
import {
  after,
  insertPortfolio,
  insertStrategy,
  insertTenant,
  noon,
  pauseAll,
  submit,
  weth
} from "#test/layers/sql/fixtures.ts"

const hour = 3_600_000
const lease = 15_000

/** A due portfolio that was checked before, as all are after their first run. */
const checkedBefore = Effect.fnUntraced(function* (dueAt: DateTime.Utc = noon) {
  yield* pauseAll
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM drift_checks`
  const tenantId = yield* insertTenant
  const strategy = yield* insertStrategy(tenantId, "hourly")
  const { portfolioId } = yield* insertPortfolio(strategy, { dueAt })
  yield* sql`UPDATE schedules SET checked_at = due_at WHERE portfolio_id = ${portfolioId}`
  return { tenantId, strategy, portfolioId }
})

const claim = (now: DateTime.Utc, limit = 100) =>
  Effect.flatMap(DueStore, (store) =>
    store.claim(now, after(now.epochMilliseconds - noon.epochMilliseconds + lease), limit)
  )

const candidates = (due: ReadonlyArray<Due>) =>
  Effect.flatMap(DueStore, (store) => store.candidates(due.map(({ portfolioId }) => portfolioId)))

/** Completes as on target those that balances alone decide about. */
const completeOnTarget = Effect.fnUntraced(function* (
  now: DateTime.Utc,
  { due, checkId }: ClaimedDue,
  revisions: ReadonlyMap<string, string>
) {
  const store = yield* DueStore
  return yield* store.complete(
    now,
    checkId,
    due.map((one) => ({ ...one, onTargetAt: revisions.get(one.portfolioId) ?? null }))
  )
})

/** Claims what is due, checks it, lets `meanwhile` happen, and completes all as on target. */
const checkedWhile = <E, R>(meanwhile: Effect.Effect<unknown, E, R>) =>
  Effect.gen(function* () {
    const claimed = yield* claim(noon)
    const revisions = new Map(
      (yield* candidates(claimed.due)).map(({ context, revision }) => [context.portfolioId as string, revision])
    )
    yield* meanwhile
    return { claimed, revisions, completed: yield* completeOnTarget(after(1_000), claimed, revisions) }
  })

const scheduleOf = Effect.fnUntraced(function* (portfolioId: PortfolioId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{
    readonly due_at: Date
    readonly checked_at: Date | null
  }>`
    SELECT due_at, checked_at FROM schedules WHERE portfolio_id = ${portfolioId}`
  return {
    dueAt: row!.due_at.getTime() - noon.epochMilliseconds,
    checkedAt: row!.checked_at === null ? null : row!.checked_at.getTime() - noon.epochMilliseconds,
    checks: (yield* sql`SELECT 1 FROM drift_checks`).length
  }
})

const operationsOf = (portfolioId: PortfolioId) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1 FROM operations WHERE portfolio_id = ${portfolioId}`)

const publish = (strategy: Strategy) =>
  Effect.flatMap(StrategyStore, (store) =>
    store.publish({
      strategyId: strategy.strategyId,
      allocation: [{ assetId: weth, weight: 10_000 }],
      changeLog: null,
      createdAt: noon
    })
  )

type Stores =
  | OperationStore
  | RunStore
  | SecureRandom.SecureRandom
  | SqlClient.SqlClient
  | StrategyStore
  | TenantConfigurationStore

interface CheckedBefore {
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
  readonly strategy: Strategy
}

const slowDown = ({ strategy, tenantId }: CheckedBefore) =>
  Effect.flatMap(StrategyStore, (store) =>
    store.setFrequency({ tenantId, strategyId: strategy.strategyId }, "daily", after(500))
  )

/** What a plan follows from beside chains and prices. */
const changes: ReadonlyArray<readonly [string, (world: CheckedBefore) => Effect.Effect<unknown, unknown, Stores>]> = [
  ["a version is published", ({ strategy }) => publish(strategy)],
  [
    "the strategy's threshold is changed",
    ({ strategy, tenantId }) =>
      Effect.flatMap(StrategyStore, (store) =>
        store.patchSwap({ tenantId, strategyId: strategy.strategyId }, { thresholdUsd: 1n })
      )
  ],
  [
    "the tenant's threshold is changed",
    ({ tenantId }) =>
      Effect.flatMap(TenantConfigurationStore, (store) =>
        store.patchPreferences(tenantId, { swap: { thresholdUsd: 1n } })
      )
  ],
  ["the cadence is changed", slowDown],
  [
    "the owner activates a chain",
    ({ portfolioId }) =>
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`
          INSERT INTO grants (portfolio_id, sequence, authorization_document, owner_signature, granted_at)
          SELECT portfolio_id, 2, authorization_document, owner_signature, granted_at FROM grants
          WHERE portfolio_id = ${portfolioId}`
      )
  ],
  [
    "a run of it ends",
    ({ portfolioId, tenantId }) =>
      Effect.gen(function* () {
        const { operationId } = yield* submit(tenantId, portfolioId)
        yield* (yield* OperationStore).transition({ operationId, to: "running", at: after(100), error: null })
        const end = { operationId, strategyVersion: 1, at: after(200), error: null, report: {} }
        yield* (yield* RunStore).finish(end)
      })
  ],
  [
    // As the ledger of transfers does when one is closed: the due time stays what it was, since it is in the past.
    "a transfer arrives",
    ({ portfolioId }) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const at = new Date(after(300).epochMilliseconds)
        yield* sql`UPDATE portfolios SET updated_at = ${at} WHERE portfolio_id = ${portfolioId}`
        yield* sql`UPDATE schedules SET due_at = least(due_at, ${at}) WHERE portfolio_id = ${portfolioId}`
      })
  ]
]

eachDatabase("drift checks of due portfolios", (it) => {
  it.effect("that are on target give no operation, and the next due time of the grid", () =>
    Effect.gen(function* () {
      const { portfolioId, tenantId } = yield* checkedBefore(after(-2 * hour - 1))
      const { completed, revisions, claimed } = yield* checkedWhile(Effect.void)
      assert.deepStrictEqual(claimed.due, [{ portfolioId, dueAt: after(-2 * hour - 1), frequency: "hourly" }])
      assert.strictEqual(revisions.size, 1)
      assert.deepStrictEqual(completed, { operationIds: [], onTarget: 1, left: 0 })
      assert.deepStrictEqual(yield* operationsOf(portfolioId), [])
      assert.deepStrictEqual(yield* scheduleOf(portfolioId), { dueAt: hour - 1, checkedAt: 1_000, checks: 0 })
      const portfolio = Option.getOrThrow(yield* (yield* PortfolioStore).find(tenantId, portfolioId))
      assert.isNull(portfolio.schedule?.lastRebalanceAt)
      assert.deepStrictEqual(portfolio.schedule?.lastCheckedAt, after(1_000), "on target is not dead")
    })
  )

  it.effect("that find the last slice made leave the portfolio due when it would have been without slices", () =>
    Effect.gen(function* () {
      const { portfolioId } = yield* checkedBefore(after(-1))
      const sql = yield* SqlClient.SqlClient
      const end = new Date(after(hour / 2).epochMilliseconds)
      yield* sql`UPDATE schedules SET retries = 1, slices_until = ${end} WHERE portfolio_id = ${portfolioId}`
      const { completed } = yield* checkedWhile(Effect.void)
      assert.deepStrictEqual(completed, { operationIds: [], onTarget: 1, left: 0 })
      const [row] = yield* sql<{ readonly due_at: Date; readonly retries: number; readonly slices_until: Date | null }>`
        SELECT due_at, retries, slices_until FROM schedules WHERE portfolio_id = ${portfolioId}`
      assert.deepStrictEqual([row!.due_at, row!.retries, row!.slices_until], [end, 0, null])
    })
  )

  it.effect("read what a run reads", () =>
    Effect.gen(function* () {
      const { portfolioId, tenantId } = yield* checkedBefore()
      const [candidate] = yield* candidates((yield* claim(noon)).due)
      const { operationId } = yield* submit(tenantId, portfolioId)
      const context = Option.getOrThrow(yield* (yield* RunStore).context(operationId))
      assert.deepStrictEqual({ operationId, ...candidate!.context }, context)
    })
  )

  it.effect("are one at a time, until they are completed or the claim is over", () =>
    Effect.gen(function* () {
      const { portfolioId } = yield* checkedBefore()
      const oldest = Effect.flatMap(OperationStore, (store) => store.oldestDue(noon))
      const first = yield* claim(noon)
      const [due] = first.due
      assert.deepStrictEqual(yield* oldest, Option.some(noon), "it stays due")
      assert.deepStrictEqual((yield* claim(after(lease - 1))).due, [])
      // The process that claimed it is gone: the next one finds it as it was.
      const second = yield* claim(after(lease))
      assert.deepStrictEqual(second.due, [due!])
      const store = yield* DueStore
      const completion = { ...due!, onTargetAt: null }
      assert.strictEqual((yield* store.complete(after(lease), second.checkId, [completion])).operationIds.length, 1)
      // The first one was only slow: what it completes now is not there any more.
      assert.deepStrictEqual(yield* store.complete(after(lease), first.checkId, [completion]), {
        operationIds: [],
        onTarget: 0,
        left: 1
      })
      assert.strictEqual((yield* operationsOf(portfolioId)).length, 1)
      assert.strictEqual((yield* claim(after(hour))).due.length, 1, "the next period is claimed at once")
    })
  )

  it.effect("are shared out by claims at the same time, and completed once by completions at the same time", () =>
    Effect.gen(function* () {
      const { strategy, tenantId } = yield* checkedBefore()
      for (let n = 1; n < 60; n++) yield* insertPortfolio(strategy, { dueAt: after(-n) })
      // One after the other they claim different ones; at the same moment they may not, which only costs a check.
      const inTurn = yield* Effect.replicateEffect(claim(noon, 10), 3)
      assert.strictEqual(new Set(inTurn.flatMap(({ due }) => due).map(({ portfolioId }) => portfolioId)).size, 30)
      yield* Effect.replicateEffect(claim(noon, 10), 6, { concurrency: "unbounded" })
      const all = yield* claim(after(lease))
      assert.strictEqual(all.due.length, 60)
      const revisions = new Map(
        (yield* candidates(all.due)).map(({ context, revision }) => [context.portfolioId as string, revision])
      )
      assert.strictEqual(revisions.size, 1, "the others were never checked")
      const completed = yield* Effect.replicateEffect(completeOnTarget(after(lease), all, revisions), 4, {
        concurrency: "unbounded"
      })
      const sum = (of: (one: (typeof completed)[number]) => number) =>
        completed.reduce((total, one) => total + of(one), 0)
      assert.deepStrictEqual(
        [sum(({ operationIds }) => operationIds.length), sum(({ onTarget }) => onTarget), sum(({ left }) => left)],
        [59, 1, 3 * 60]
      )
      const sql = yield* SqlClient.SqlClient
      assert.strictEqual((yield* sql`SELECT 1 FROM operations WHERE tenant_id = ${tenantId}`).length, 59)
    })
  )

  it.effect("are not needed to give a run to a portfolio that is new, restarted, outdated or at work", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { portfolioId, strategy, tenantId } = yield* checkedBefore()
      const isCandidate = Effect.map(
        candidates([{ portfolioId, dueAt: noon, frequency: "hourly" }]),
        (found) => found.length === 1
      )
      assert.isTrue(yield* isCandidate)

      const portfolios = yield* PortfolioStore
      yield* portfolios.stop(tenantId, portfolioId, { at: noon, note: null })
      yield* portfolios.start(tenantId, portfolioId, noon)
      assert.isFalse(yield* isCandidate, "started: people see a run of it")
      yield* sql`UPDATE schedules SET checked_at = due_at WHERE portfolio_id = ${portfolioId}`

      const { operationId } = yield* submit(tenantId, portfolioId)
      assert.isFalse(yield* isCandidate, "a run is under way")
      yield* (yield* OperationStore).transition({ operationId, to: "cancelled", at: noon, error: "test" })
      assert.isTrue(yield* isCandidate)

      yield* sql`
        INSERT INTO transfer_intents (run_id, chain_id, attempt, portfolio_id, account_id, action_hash, found_from,
          transfers, announced_at)
        VALUES (${operationId}, 8453, 1, ${portfolioId}, 'account', 'subject', 1, '[]', now())`
      assert.isFalse(yield* isCandidate, "value may be leaving")
      yield* sql`DELETE FROM transfer_intents WHERE portfolio_id = ${portfolioId}`

      yield* publish(strategy)
      assert.isFalse(yield* isCandidate, "its run makes the new version its own")
      const { portfolioId: first } = yield* insertPortfolio(strategy, { dueAt: noon })
      assert.deepStrictEqual(yield* candidates([{ portfolioId: first, dueAt: noon, frequency: "hourly" }]), [])
    })
  )

  for (const [name, change] of changes) {
    it.effect(`are repeated when ${name} in between`, () =>
      Effect.gen(function* () {
        const world = yield* checkedBefore()
        const { completed } = yield* checkedWhile(change(world))
        assert.deepStrictEqual(completed, { operationIds: [], onTarget: 0, left: 1 })
        assert.deepStrictEqual(yield* scheduleOf(world.portfolioId), { dueAt: 0, checkedAt: 0, checks: 0 })
        assert.strictEqual((yield* claim(noon)).due.length, 1, "due as before, and free")
      })
    )
  }

  it.effect("give no run by a cadence that was changed in between, but by the next drift check", () =>
    Effect.gen(function* () {
      const world = yield* checkedBefore()
      const claimed = yield* claim(noon)
      yield* slowDown(world)
      const completed = yield* completeOnTarget(after(1_000), claimed, new Map())
      assert.deepStrictEqual(completed, { operationIds: [], onTarget: 0, left: 1 })
      assert.deepStrictEqual(yield* scheduleOf(world.portfolioId), { dueAt: 0, checkedAt: 0, checks: 0 })
      const again = yield* completeOnTarget(after(1_000), yield* claim(noon), new Map())
      assert.deepStrictEqual([again.operationIds.length, again.left], [1, 0])
      assert.strictEqual((yield* scheduleOf(world.portfolioId)).dueAt, 24 * hour)
    })
  )

  it.effect("leave a schedule alone that was stopped, or started anew, in between", () =>
    Effect.gen(function* () {
      const { portfolioId, tenantId } = yield* checkedBefore()
      const portfolios = yield* PortfolioStore
      const stopped = yield* checkedWhile(portfolios.stop(tenantId, portfolioId, { at: noon, note: null }))
      assert.deepStrictEqual(stopped.completed, { operationIds: [], onTarget: 0, left: 1 })
      yield* portfolios.start(tenantId, portfolioId, after(500))
      const late = yield* completeOnTarget(after(1_000), stopped.claimed, stopped.revisions)
      assert.deepStrictEqual(late, { operationIds: [], onTarget: 0, left: 1 })
      assert.strictEqual((yield* scheduleOf(portfolioId)).dueAt, 500, "it is as prompt as start promises")
    })
  )

  it.effect("stand back for a manual trigger in between, which always gives an operation", () =>
    Effect.gen(function* () {
      const { portfolioId, tenantId } = yield* checkedBefore()
      const { completed } = yield* checkedWhile(submit(tenantId, portfolioId, { now: after(500) }))
      assert.deepStrictEqual(completed, { operationIds: [], onTarget: 1, left: 0 })
      assert.strictEqual((yield* operationsOf(portfolioId)).length, 1)
    })
  )
})

import { assert } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AnalyticsStore } from "#domain/discovery/AnalyticsStore.ts"
import { DiscoveryStore } from "#domain/discovery/DiscoveryStore.ts"
import { EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import type { PortfolioId, StrategyId, TenantId } from "#domain/values/Ids.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { Strategy } from "#domain/strategy/Strategy.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { eachDatabase } from "#test/support/database.ts"
import {
  after,
  insertFlow,
  insertTenant,
  makeMirrorable,
  newAddress,
  newPortfolio,
  newStrategy,
  noon,
  outcomeOf
} from "#test/layers/sql/fixtures.ts"

const hour = 3_600_000
const day = 24 * hour

const insertPublic = Effect.gen(function* () {
  const strategy = { ...(yield* newStrategy(yield* insertTenant)), isPublic: true }
  yield* (yield* StrategyStore).insert(strategy)
  yield* makeMirrorable(strategy.strategyId)
  return { ...strategy, canMirror: true }
})

/** Enrolls an owner of a tenant, ten days before noon by default. */
const enroll = Effect.fnUntraced(function* (
  strategy: Strategy,
  tenantId: TenantId = strategy.tenantId,
  { createdAt = after(-10 * day), index = 0n, owner = newAddress() } = {}
) {
  const flow = yield* insertFlow({ ...strategy, tenantId }, owner, index)
  const portfolio = yield* newPortfolio(flow, { createdAt })
  yield* (yield* EnrollmentStore).commit(portfolio, outcomeOf(portfolio))
  return portfolio.portfolioId
})

const value = Effect.fnUntraced(function* (
  portfolioId: PortfolioId,
  at: DateTime.Utc,
  { flow = "0", usd }: { readonly usd: string; readonly flow?: string | undefined }
) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO portfolio_valuations (portfolio_id, day, value_usd, cash_flow_usd, valued_at)
    VALUES (${portfolioId}, ${DateTime.formatIsoDateUtc(at)}::date, ${usd}::numeric, ${flow}::numeric,
      ${DateTime.toDateUtc(at)})`
})

const measure = Effect.flatMap(AnalyticsStore, (store) =>
  store.measure({ freshSince: after(-2 * day), valuedIfBefore: after(-6 * hour), flowsSince: after(-6 * day) })
)

/** What one strategy is ranked by, as text; null where it is unknown. */
const numbersOf = Effect.fnUntraced(function* (strategyId: StrategyId) {
  const store = yield* DiscoveryStore
  const find = (sort: Parameters<typeof store.ranked>[0]) =>
    Effect.map(store.ranked(sort, null, 1_000), (entries) =>
      entries.find(({ item }) => item.strategyId === strategyId)!
    )
  const [tvl, inflows, users] = [yield* find("tvl.desc"), yield* find("inflows7d.desc"), yield* find("users.desc")]
  const valueOf = ({ position }: typeof tvl) =>
    position.collection === "curated" || position.value === null ? null : Decimal.format(position.value, 2)
  const { portfolioCount } = tvl.item.metrics
  return { tvl: valueOf(tvl), inflows: valueOf(inflows), users: valueOf(users), portfolioCount }
})

const none = { tvl: "0.00", inflows: "0.00", users: "0.00", portfolioCount: 0 }

eachDatabase("AnalyticsStore", (it) => {
  it.effect("sums the newest values of active portfolios over all tenants, and counts owners once", () =>
    Effect.gen(function* () {
      const strategy = yield* insertPublic
      const other = yield* insertTenant
      const owner = newAddress()
      const first = yield* enroll(strategy, strategy.tenantId, { owner })
      const second = yield* enroll(strategy, other, { owner, index: 1n })
      const third = yield* enroll(strategy, other)
      yield* value(first, after(-day), { usd: "100", flow: "100" })
      yield* value(first, noon, { usd: "120.50", flow: "-5" })
      yield* value(second, after(-hour), { usd: "10", flow: "10" })
      yield* value(third, after(-2 * day), { usd: "1", flow: "-2.25" })
      yield* measure
      assert.deepStrictEqual(yield* numbersOf(strategy.strategyId), {
        tvl: "131.50",
        inflows: "102.75",
        users: "2.00",
        portfolioCount: 3
      })
    })
  )

  it.effect("leaves out paused and archived portfolios, but not what flowed through them", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const strategy = yield* insertPublic
      const [kept, paused, archived] = [yield* enroll(strategy), yield* enroll(strategy), yield* enroll(strategy)]
      yield* value(kept, noon, { usd: "1", flow: "1" })
      yield* value(paused, noon, { usd: "10", flow: "10" })
      yield* value(archived, after(-3 * day), { usd: "0", flow: "-100" })
      yield* sql`UPDATE schedules SET status = 'paused' WHERE portfolio_id = ${paused}`
      yield* sql`UPDATE portfolios SET archived_at = created_at WHERE portfolio_id = ${archived}`
      yield* measure
      assert.deepStrictEqual(yield* numbersOf(strategy.strategyId), {
        tvl: "1.00",
        inflows: "-89.00",
        users: "1.00",
        portfolioCount: 1
      })
    })
  )

  it.effect("counts flows of today and the six days before, and no earlier ones", () =>
    Effect.gen(function* () {
      const strategy = yield* insertPublic
      const portfolioId = yield* enroll(strategy)
      yield* value(portfolioId, after(-7 * day), { usd: "64", flow: "64" })
      for (let ago = 6; ago >= 0; ago -= 1) yield* value(portfolioId, after(-ago * day), { usd: "65", flow: "1" })
      yield* measure
      assert.strictEqual((yield* numbersOf(strategy.strategyId)).inflows, "7.00")
    })
  )

  it.effect("does not know the value while one active portfolio was not valued for two days", () =>
    Effect.gen(function* () {
      const strategy = yield* insertPublic
      const [fresh, stale] = [yield* enroll(strategy), yield* enroll(strategy)]
      yield* value(fresh, noon, { usd: "5", flow: "5" })
      yield* value(stale, after(-2 * day - 1), { usd: "7" })
      const unknown = yield* measure
      const numbers = { tvl: null, inflows: null, users: "2.00", portfolioCount: 2 }
      assert.deepStrictEqual(yield* numbersOf(strategy.strategyId), numbers)
      assert.isAtLeast(unknown, 1)
      yield* value(stale, noon, { usd: "8" })
      assert.isBelow(yield* measure, unknown)
      assert.strictEqual((yield* numbersOf(strategy.strategyId)).tvl, "13.00")
    })
  )

  it.effect("gives a new portfolio some hours for its first valuation", () =>
    Effect.gen(function* () {
      const strategy = yield* insertPublic
      yield* enroll(strategy, strategy.tenantId, { createdAt: after(-6 * hour) })
      yield* measure
      assert.strictEqual((yield* numbersOf(strategy.strategyId)).tvl, "0.00")
      yield* enroll(strategy, strategy.tenantId, { createdAt: after(-6 * hour - 1) })
      yield* measure
      assert.deepStrictEqual(yield* numbersOf(strategy.strategyId), {
        tvl: null,
        inflows: null,
        users: "2.00",
        portfolioCount: 2
      })
    })
  )

  it.effect("counts no follower where there is none, and measures one that has become public", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const strategy = yield* insertPublic
      const { strategyId } = strategy
      const left = yield* enroll(strategy)
      yield* sql`UPDATE portfolios SET archived_at = created_at WHERE portfolio_id = ${left}`
      yield* sql`UPDATE strategies SET is_public = false WHERE strategy_id = ${strategyId}`
      yield* sql`UPDATE strategies SET is_public = true WHERE strategy_id = ${strategyId}`
      assert.deepStrictEqual(yield* numbersOf(strategyId), {
        tvl: null,
        inflows: null,
        users: null,
        portfolioCount: null
      })
      yield* measure
      assert.deepStrictEqual(yield* numbersOf(strategyId), none)
    })
  )

  it.effect("lets one of several processes pass, once an interval", () =>
    Effect.gen(function* () {
      const store = yield* AnalyticsStore
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE discovery_analytics SET claimed_at = NULL`
      const at = (now: number) =>
        Effect.forEach([1, 2, 3, 4], () => store.claim(after(now), after(now - hour)), { concurrency: "unbounded" })
      assert.strictEqual((yield* at(0)).filter(Boolean).length, 1)
      assert.strictEqual((yield* at(hour - 1)).filter(Boolean).length, 0)
      assert.strictEqual((yield* at(hour)).filter(Boolean).length, 1)
    })
  )

  it.effect("keeps windows exactly, in turns, and what was known where they could not be computed", () =>
    Effect.gen(function* () {
      const store = yield* AnalyticsStore
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE strategies SET is_public = false`
      const [a, b] = [yield* insertPublic, yield* insertPublic]
      const window = { window: "1m" as const, percentChange: -1_234_567_890_123_456_789n, since: "2026-02-01" }
      assert.sameMembers([...(yield* store.outdated(after(1), 5))], [a.strategyId, b.strategyId])
      yield* store.saveWindows(after(1), [{ strategyId: a.strategyId, windows: [window] }])
      assert.deepStrictEqual(yield* store.outdated(after(1), 5), [b.strategyId])
      yield* store.saveWindows(after(2), [{ strategyId: b.strategyId, windows: null }])
      assert.deepStrictEqual(yield* store.outdated(after(3), 1), [a.strategyId])
      yield* store.saveWindows(after(3), [{ strategyId: a.strategyId, windows: null }])
      assert.deepStrictEqual(yield* store.outdated(after(3), 5), [b.strategyId])

      yield* store.finish(after(3))
      const entries = yield* (yield* DiscoveryStore).ranked("tvl.desc", null, 5)
      const windows = new Map(entries.map(({ item }) => [item.strategyId, item.metrics.windows]))
      assert.deepStrictEqual(windows.get(a.strategyId), [window])
      assert.deepStrictEqual(windows.get(b.strategyId), [])
      assert.strictEqual(entries[0]!.measuredAt?.epochMilliseconds, after(3).epochMilliseconds)
    })
  )
})

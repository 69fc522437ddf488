import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AssetId, EvmAccountId } from "#domain/values/Caip.ts"
import * as Day from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { NotFound, ValidationFailed } from "#domain/errors/Errors.ts"
import type { PortfolioId, StrategyId } from "#domain/values/Ids.ts"
import { formatPercent } from "#domain/performance/percent.ts"
import { StrategyPerformances } from "#domain/performance/StrategyPerformances.ts"
import { ValuationStore } from "#domain/performance/ValuationStore.ts"
import { enrolledUser, newStrategy, newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError, isoTime } from "#test/api/support/assertions.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { PastPrices } from "#test/api/support/PastPrices.ts"
import { arbUsdc, arbWeth, baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"

const dollars = (n: number) => BigInt(n) * Decimal.one
const dayMs = 86_400_000

/** Early in a day that has not been before in this file. */
const newDay = Effect.gen(function* () {
  const clock = yield* MovableClock
  const now = (yield* DateTime.now).epochMilliseconds
  clock.advance(dayMs - (now % dayMs) + 1000)
  return Day.of(yield* DateTime.now)
})

/** Prices of an asset in dollars, the last of them today's. */
const past = Effect.fnUntraced(function* (assetId: AssetId, today: Day.Day, ...prices: ReadonlyArray<number>) {
  ;(yield* PastPrices).known.set(
    assetId,
    prices.map((price, n) => ({ day: Day.add(today, n - prices.length + 1), usd: dollars(price) }))
  )
})

const half = (left: AssetId, right: AssetId) => ({
  allocation: {
    assets: [
      { assetId: left, weight: "50" },
      { assetId: right, weight: "50" }
    ]
  }
})

layer(ApiLive, { excludeTestServices: true })("strategy performance", (it) => {
  it.effect("answers the curve and its windows, of one's own strategy and of a public one", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const today = yield* newDay
      yield* past(baseWeth.assetId, today, 100, 110, 110)
      yield* past(baseUsdc.assetId, today, 1, 1, 1)
      const actor = yield* newTenant()
      const strategyId = yield* newStrategy(actor, {
        ...half(baseWeth.assetId, baseUsdc.assetId),
        schedule: { type: "interval", frequency: "weekly" },
        isPublic: true
      })
      const answer = yield* call("GET", `/v2/strategies/${strategyId}/performance`, { key: actor.key })
      assertData(answer, 200, ["strategyId", "schedule", "meta", "points", "summary"])
      const { meta, points, schedule, summary } = answer.json.data
      assert.strictEqual(answer.json.data.strategyId, strategyId)
      assert.deepStrictEqual(schedule, { type: "interval", frequency: "weekly" })
      assert.match(meta.asOf, isoTime)
      assert.deepStrictEqual({ ...meta, asOf: "" }, { method: "TWR", currency: "USD", resolution: "1d", asOf: "" })
      const date = (back: number) => Day.format(Day.add(today, -back))
      assert.deepStrictEqual(points, [
        { date: date(2), percentChange: "0.0000" },
        { date: date(1), percentChange: "5.0000" },
        { date: date(0), percentChange: "5.0000" }
      ])
      assert.deepStrictEqual(summary, { windows: [{ window: "1d", percentChange: "0.0000", since: date(1) }] })

      const stranger = yield* newTenant()
      const seen = yield* call("GET", `/v2/strategies/${strategyId}/performance`, { key: stranger.key })
      assert.deepStrictEqual(seen.json.data.points, points)
    })
  )

  it.effect("discovery gets the same windows, and none of an unknown strategy", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const today = yield* newDay
      yield* past(baseUsdc.assetId, today, 1, 1, 1, 1, 1, 1, 1, 2)
      yield* past(baseWeth.assetId, today, 1, 1, 1, 1, 1, 1, 1, 1)
      const sql = yield* SqlClient.SqlClient
      yield* sql`TRUNCATE tracked_assets, asset_daily_prices`
      const actor = yield* newTenant()
      const strategyId = (yield* newStrategy(actor, half(baseWeth.assetId, baseUsdc.assetId))) as StrategyId
      const { windows } = yield* StrategyPerformances
      assert.deepStrictEqual(yield* windows(strategyId), [])
      ;(yield* MovableClock).advance(3_000)
      const answer = yield* call("GET", `/v2/strategies/${strategyId}/performance`, { key: actor.key })
      const expected = yield* windows(strategyId)
      assert.deepStrictEqual(
        expected.map(({ percentChange, since, window }) => ({
          window,
          percentChange: formatPercent(percentChange),
          since
        })),
        answer.json.data.summary.windows
      )
      assert.deepStrictEqual(
        expected.map(({ percentChange, window }) => [window, percentChange]),
        [
          ["1d", 50n * Decimal.one],
          ["1w", 50n * Decimal.one]
        ]
      )
      assert.deepStrictEqual(yield* windows("01JQ8ZKX4V6T3M9N2C5B7D8F0G" as StrategyId), [])
    })
  )

  it.effect("a new version is in force from the next day on", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const clock = yield* MovableClock
      const today = yield* newDay
      yield* past(baseBtc.assetId, today, 100, 100, 200)
      yield* past(arbUsdc.assetId, today, 1, 1, 1)
      const actor = yield* newTenant()
      const strategyId = yield* newStrategy(actor, {
        allocation: { assets: [{ assetId: arbUsdc.assetId, weight: "100" }] }
      })
      const percents = Effect.gen(function* () {
        const { json } = yield* call("GET", `/v2/strategies/${strategyId}/performance`, { key: actor.key })
        return json.data.points.map(({ percentChange }: { percentChange: string }) => percentChange)
      })
      assert.deepStrictEqual(yield* percents, ["0.0000", "0.0000", "0.0000"])
      const body = { allocation: half(baseBtc.assetId, arbUsdc.assetId).allocation }
      const published = yield* call("POST", `/v2/strategies/${strategyId}/versions`, { key: actor.key, body })
      assert.strictEqual(published.status, 201, published.text)
      const sql = yield* SqlClient.SqlClient
      const price = (assetId: AssetId, day: number, usd: number) => sql`
        INSERT INTO asset_daily_prices (asset_id, day, price_usd, recorded_at)
        VALUES (${assetId}, DATE '1970-01-01' + ${day}::int, ${usd}, now())`
      for (const [n, btc] of [200, 400, 800].entries()) {
        yield* price(baseBtc.assetId, today + n, btc)
        if (n > 0) yield* price(arbUsdc.assetId, today + n, 1)
      }
      clock.advance(2 * dayMs)
      // Bought at the beginning of tomorrow: half of it doubles until the day after.
      assert.deepStrictEqual(yield* percents, ["0.0000", "0.0000", "0.0000", "0.0000", "50.0000"])
    })
  )

  it.effect("without prices there are no points, and without two of them no summary", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const today = yield* newDay
      const actor = yield* newTenant()
      const strategyId = yield* newStrategy(actor, {
        allocation: { assets: [{ assetId: arbWeth.assetId, weight: "100" }] }
      })
      const read = call("GET", `/v2/strategies/${strategyId}/performance`, { key: actor.key })
      const none = yield* read
      assertData(none, 200, ["strategyId", "schedule", "meta", "points"])
      assert.deepStrictEqual(none.json.data.points, [])
      const sql = yield* SqlClient.SqlClient
      yield* sql`
        INSERT INTO asset_daily_prices (asset_id, day, price_usd, recorded_at)
        VALUES (${arbWeth.assetId}, DATE '1970-01-01' + ${today}::int, 2500, now())`
      const one = yield* read
      assertData(one, 200, ["strategyId", "schedule", "meta", "points"])
      assert.lengthOf(one.json.data.points, 1)
    })
  )

  it.effect("an unknown asset in the stored allocation is 400 and named", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const actor = yield* newTenant()
      const strategyId = yield* newStrategy(actor)
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM assets WHERE asset_id = ${baseWeth.assetId}`
      const answer = yield* call("GET", `/v2/strategies/${strategyId}/performance`, { key: actor.key })
      assertError(answer, ValidationFailed, `allocation.assets.1.assetId: unknown asset ${baseWeth.assetId}`)
      assert.include(answer.json.error.message, baseWeth.assetId)
    })
  )

  it.effect("another tenant's private strategy and one that does not exist are 404, a malformed id is 400", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const strategyId = yield* newStrategy(yield* newTenant())
      const { key } = yield* newTenant()
      assertError(yield* call("GET", `/v2/strategies/${strategyId}/performance`, { key }), NotFound)
      assertError(yield* call("GET", "/v2/strategies/01JQ8ZKX4V6T3M9N2C5B7D8F0G/performance", { key }), NotFound)
      assertError(yield* call("GET", "/v2/strategies/x/performance", { key }), ValidationFailed)
    })
  )
})

layer(ApiLive, { excludeTestServices: true })("portfolio performance", (it) => {
  it.effect("answers value, cash flows and return by day, the open one marked", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const clock = yield* MovableClock
      const first = yield* newDay
      const { key, portfolioId, smartAccounts, strategyId } = yield* enrolledUser()
      const store = yield* ValuationStore
      const value = Effect.fnUntraced(function* (valueUsd: bigint, cashFlowUsd: bigint, growth: bigint | null) {
        const now = yield* DateTime.now
        yield* store.claim({ after: null, limit: 100, now, claimedBefore: now })
        const accounts = [{ accountId: smartAccounts[0] as EvmAccountId, blockNumber: 1n, holdings: [] }]
        yield* store.record(now, now, [
          { portfolioId: portfolioId as PortfolioId, valueUsd, cashFlowUsd, growth, isRebased: false, accounts }
        ])
      })
      yield* value(0n, 0n, null)
      clock.advance(dayMs)
      yield* value(dollars(1000), dollars(1000), null)
      clock.advance(dayMs)
      yield* value(dollars(1100), 0n, (Decimal.one * 11n) / 10n)
      clock.advance(1000)
      yield* value(dollars(850) + 1n, -dollars(250), Decimal.one)
      const answer = yield* call("GET", `/v2/portfolios/${portfolioId}/performance`, { key })
      assertData(answer, 200, ["portfolioId", "strategyId", "meta", "points", "summary"])
      const { data } = answer.json
      assert.strictEqual(data.portfolioId, portfolioId)
      assert.strictEqual(data.strategyId, strategyId)
      assert.match(data.meta.asOf, isoTime)
      assert.deepStrictEqual({ ...data.meta, asOf: "" }, { method: "TWR", currency: "USD", resolution: "1d", asOf: "" })
      const date = (n: number) => Day.format(Day.add(first, n))
      assert.deepStrictEqual(data.points, [
        { date: date(0), percentChange: null, valueUsd: "0.000000", cashFlowUsd: "0.000000" },
        { date: date(1), percentChange: "0.0000", valueUsd: "1000.000000", cashFlowUsd: "1000.000000" },
        {
          date: date(2),
          percentChange: "10.0000",
          valueUsd: "850.000000",
          cashFlowUsd: "-250.000000",
          isLive: true
        }
      ])
      assert.deepStrictEqual(data.summary, { windows: [{ window: "1d", percentChange: "10.0000", since: date(1) }] })
    })
  )

  it.effect("before the first valuation there is nothing, and that is no error", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, portfolioId } = yield* enrolledUser()
      const answer = yield* call("GET", `/v2/portfolios/${portfolioId}/performance`, { key })
      assertData(answer, 200, ["portfolioId", "strategyId", "meta", "points"])
      assert.deepStrictEqual(answer.json.data.points, [])
    })
  )

  it.effect("another tenant's portfolio and one that does not exist are 404, a malformed id is 400", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { portfolioId } = yield* enrolledUser()
      const { key } = yield* newTenant()
      assertError(yield* call("GET", `/v2/portfolios/${portfolioId}/performance`, { key }), NotFound)
      assertError(yield* call("GET", "/v2/portfolios/pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8/performance", { key }), NotFound)
      assertError(yield* call("GET", "/v2/portfolios/x/performance", { key }), ValidationFailed)
    })
  )
})

import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { CuratedPosition, RankedPosition } from "#domain/discovery/DiscoveryCursor.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { type DiscoveryEntry, DiscoveryStore } from "#domain/discovery/DiscoveryStore.ts"
import { Sort } from "#domain/discovery/Sort.ts"
import { makeStrategyId, type StrategyId } from "#domain/values/Ids.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { eachDatabase } from "#test/support/database.ts"
import {
  after,
  insertPortfolio,
  insertStrategy,
  insertTenant,
  makeMirrorable,
  newStrategy
} from "#test/layers/sql/fixtures.ts"

const insertPublic = Effect.fnUntraced(function* () {
  const strategy = { ...(yield* newStrategy(yield* insertTenant)), isPublic: true }
  yield* (yield* StrategyStore).insert(strategy)
  yield* makeMirrorable(strategy.strategyId)
  return { ...strategy, canMirror: true }
})

const idsOf = (entries: ReadonlyArray<DiscoveryEntry>) => entries.map(({ item }) => item.strategyId)

const ranked = (sort: Sort = "tvl.desc", position: RankedPosition | null = null, limit = 1_000) =>
  Effect.flatMap(DiscoveryStore, (store) => store.ranked(sort, position, limit))

const curated = (position: CuratedPosition | null = null, limit = 1_000) =>
  Effect.flatMap(DiscoveryStore, (store) => store.curated(position, limit))

const select = (ids: ReadonlyArray<StrategyId>) => Effect.flatMap(DiscoveryStore, (store) => store.select(ids))

const setPublic = Effect.fnUntraced(function* (strategyId: StrategyId, isPublic: boolean) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE strategies SET is_public = ${isPublic} WHERE strategy_id = ${strategyId}`
})

/** Unlists what other tests left. */
const unlistAll = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE strategies SET is_public = false`)

eachDatabase("DiscoveryStore", (it) => {
  it.effect("lists a strategy exactly while it is public and mirrorable", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* unlistAll
      const hidden = yield* insertStrategy(yield* insertTenant)
      yield* makeMirrorable(hidden.strategyId)
      const { strategyId } = yield* insertPublic()
      const isListed = Effect.map(ranked(), (entries) => idsOf(entries).includes(strategyId))
      assert.deepStrictEqual(idsOf(yield* ranked()), [strategyId])

      yield* setPublic(strategyId, false)
      assert.isFalse(yield* isListed)
      yield* setPublic(strategyId, true)
      yield* setPublic(strategyId, true)
      assert.isTrue(yield* isListed)

      yield* sql`UPDATE strategies SET can_mirror = false WHERE strategy_id = ${strategyId}`
      assert.isFalse(yield* isListed)
      yield* setPublic(strategyId, false)
      yield* sql`UPDATE strategies SET can_mirror = true WHERE strategy_id = ${strategyId}`
      assert.isFalse(yield* isListed)
      yield* setPublic(hidden.strategyId, true)
      assert.deepStrictEqual(idsOf(yield* ranked()), [hidden.strategyId])
    })
  )

  it.effect("has zero for a strategy without portfolios, and nothing for an unmeasured one with some", () =>
    Effect.gen(function* () {
      yield* unlistAll
      const strategy = yield* insertPublic()
      const { strategyId } = strategy
      const [born] = yield* ranked()
      assert.deepStrictEqual(born!.item.metrics, { tvlUsd: 0n, portfolioCount: 0, windows: [] })
      yield* setPublic(strategyId, false)
      yield* insertPortfolio(strategy)
      yield* setPublic(strategyId, true)
      const [changed] = yield* ranked()
      assert.deepStrictEqual(changed!.item.metrics, { tvlUsd: null, portfolioCount: null, windows: [] })
    })
  )

  it.effect("answers the strategy with its head version, its advertised yield and its metrics exactly", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* unlistAll
      const strategy = yield* insertPublic()
      const allocation = [{ assetId: strategy.allocation[0]!.assetId, weight: 10_000 }]
      yield* (yield* StrategyStore).publish({
        strategyId: strategy.strategyId,
        allocation,
        changeLog: null,
        createdAt: after(1)
      })
      yield* sql`UPDATE strategies SET max_apy = 10 WHERE strategy_id = ${strategy.strategyId}`
      const windows = [{ window: "1w", percentChange: "-1.500000000000000001", since: "2026-02-22" }]
      yield* sql`
        UPDATE discovery_entries SET tvl_usd = 12.000000000000000003, portfolio_count = 2,
          windows = ${JSON.stringify(windows)}::jsonb`
      yield* sql`UPDATE discovery_analytics SET measured_at = ${new Date(5)}`
      const [{ item, measuredAt, position }] = (yield* ranked()) as [DiscoveryEntry]
      assert.deepStrictEqual(item, {
        strategyId: strategy.strategyId,
        name: strategy.name,
        description: strategy.description,
        maxApy: 10n * Decimal.one,
        allocation,
        createdAt: strategy.createdAt,
        canMirror: true,
        metrics: {
          tvlUsd: 12_000_000_000_000_000_003n,
          portfolioCount: 2,
          windows: [{ window: "1w", percentChange: -1_500_000_000_000_000_001n, since: "2026-02-22" }]
        }
      })
      assert.strictEqual(measuredAt?.epochMilliseconds, 5)
      assert.deepStrictEqual(position, {
        collection: "top_performing",
        sort: "tvl.desc",
        value: 12_000_000_000_000_000_003n,
        strategyId: strategy.strategyId
      })
    })
  )

  it.effect("pages through every ranking once, equal and unknown values included", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* unlistAll
      const values = [null, "-3.5", "0", "7.000000000000000001", "7", "7", null, "1000000", "-3.5", "0"]
      const rows: Array<{ id: string; value: bigint | null }> = []
      for (const value of values) {
        const { strategyId } = yield* insertPublic()
        rows.push({ id: strategyId, value: value === null ? null : Decimal.parse(value)! })
        const users = value === null ? null : Math.abs(Math.trunc(Number(value)))
        yield* sql`
          UPDATE discovery_entries
          SET tvl_usd = ${value}::numeric, inflows_7d_usd = -(${value}::numeric), users = ${users}::int
          WHERE strategy_id = ${strategyId}`
      }
      const signs: Record<Sort, (value: bigint) => bigint> = {
        "tvl.desc": (value) => value,
        "inflows7d.desc": (value) => -value,
        "users.desc": (value) => (value < 0n ? -value : value) / Decimal.one
      }
      for (const sort of Sort.literals) {
        const keyed = rows.map(({ id, value }) => ({ id, key: value === null ? null : signs[sort](value) }))
        const expected = keyed
          .sort((a, b) => {
            if (a.key !== b.key) return a.key === null ? 1 : b.key === null ? -1 : a.key > b.key ? -1 : 1
            return a.id > b.id ? -1 : 1
          })
          .map(({ id }) => id)
        for (const limit of [1, 3, 4, 20]) {
          const seen: Array<string> = []
          let position: RankedPosition | null = null
          for (let pages = 0; pages < 20; pages += 1) {
            const found: ReadonlyArray<DiscoveryEntry> = yield* ranked(sort, position, limit)
            seen.push(...idsOf(found.slice(0, limit)))
            if (found.length <= limit) break
            position = found[limit - 1]!.position as RankedPosition
          }
          assert.deepStrictEqual(seen, expected, `${sort} by ${limit}`)
        }
      }
    })
  )

  it.effect("keeps the selection in its order, and hides what is not public at the moment", () =>
    Effect.gen(function* () {
      const ids: Array<StrategyId> = []
      for (let n = 0; n < 4; n++) ids.push((yield* insertPublic()).strategyId)
      const [a, b, c, d] = ids as [StrategyId, StrategyId, StrategyId, StrategyId]
      assert.deepStrictEqual(yield* select([c, a, d, b]), [])
      assert.deepStrictEqual(idsOf(yield* curated()), [c, a, d, b])

      const first = yield* curated(null, 2)
      assert.deepStrictEqual(idsOf(first), [c, a, d])
      assert.deepStrictEqual(idsOf(yield* curated(first[1]!.position as CuratedPosition, 2)), [d, b])

      yield* setPublic(a, false)
      assert.deepStrictEqual(idsOf(yield* curated()), [c, d, b])
      assert.deepStrictEqual(yield* Effect.flatMap(DiscoveryStore, (store) => store.selection), [c, a, d, b])
      yield* setPublic(a, true)
      assert.deepStrictEqual(idsOf(yield* curated()), [c, a, d, b])

      assert.deepStrictEqual(yield* select([b]), [])
      assert.deepStrictEqual(idsOf(yield* curated()), [b])
      assert.deepStrictEqual(yield* select([]), [])
      assert.deepStrictEqual(yield* curated(), [])
    })
  )

  it.effect("refuses a selection whole when one of it is unknown, private or not mirrorable", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { strategyId } = yield* insertPublic()
      const secret = (yield* insertStrategy(yield* insertTenant)).strategyId
      const closed = (yield* insertPublic()).strategyId
      yield* sql`UPDATE strategies SET can_mirror = false WHERE strategy_id = ${closed}`
      const unknown = yield* makeStrategyId
      assert.deepStrictEqual(yield* select([strategyId]), [])
      assert.deepStrictEqual(yield* select([secret, strategyId, closed, unknown]), [secret, closed, unknown])
      assert.deepStrictEqual(idsOf(yield* curated()), [strategyId])
    })
  )

  it.effect("of selections made at once one stands whole", () =>
    Effect.gen(function* () {
      const ids: Array<StrategyId> = []
      for (let n = 0; n < 20; n++) ids.push((yield* insertPublic()).strategyId)
      const selections = ids.map((_, n) => [...ids.slice(n), ...ids.slice(0, n)].slice(0, n + 1))
      yield* Effect.forEach(selections, select, { concurrency: "unbounded" })
      const left = idsOf(yield* curated())
      assert.isTrue(selections.some((selection) => selection.join() === left.join()))
    })
  )
})

import { assert } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import { SqlClient } from "effect/sql"
import { makeStrategyId } from "#domain/values/Ids.ts"
import { StrategyStore } from "#domain/strategy/StrategyStore.ts"
import { eachDatabase } from "#test/support/database.ts"
import { after, insertStrategy, insertTenant, newStrategy, usdc, weth } from "#test/layers/sql/fixtures.ts"

eachDatabase("StrategyStore", (it) => {
  it.effect("keeps a strategy exactly, nulls and eighteen decimal places included", () =>
    Effect.gen(function* () {
      const store = yield* StrategyStore
      const strategy = yield* insertStrategy(yield* insertTenant)
      assert.deepStrictEqual(yield* store.find(strategy.strategyId), Option.some(strategy))

      const bare = {
        ...(yield* newStrategy(strategy.tenantId, "hourly")),
        description: null,
        swap: { slippageBps: null, priceImpactBps: 100, thresholdUsd: null },
        isPublic: true
      }
      yield* store.insert(bare)
      assert.deepStrictEqual(yield* store.find(bare.strategyId), Option.some(bare))
      assert.isTrue(Option.isNone(yield* store.find(yield* makeStrategyId)))
    })
  )

  it.effect("publishes versions without gaps, concurrent ones too, and the last is head", () =>
    Effect.gen(function* () {
      const store = yield* StrategyStore
      const { strategyId } = yield* insertStrategy(yield* insertTenant)
      const versions = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, n) => n),
        (n) =>
          store.publish({
            strategyId,
            allocation: [
              { assetId: usdc, weight: 1000 + n },
              { assetId: weth, weight: 9000 - n }
            ],
            changeLog: `change ${n}`,
            createdAt: after(n)
          }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        [...versions].sort((a, b) => a - b),
        Array.from({ length: 20 }, (_, n) => n + 2)
      )
      const head = Option.getOrThrow(yield* store.find(strategyId))
      assert.strictEqual(head.version, 21)
      assert.strictEqual(head.allocation[0]!.weight, 1000 + versions.indexOf(21))
      const listed = yield* store.versions(strategyId, { limit: 100, before: null })
      assert.deepStrictEqual(
        listed.map(({ isHead, version }) => [version, isHead]),
        Array.from({ length: 21 }, (_, n) => [21 - n, n === 0])
      )
    })
  )

  it.effect("lists versions newest first, exactly, and page by page", () =>
    Effect.gen(function* () {
      const store = yield* StrategyStore
      const { allocation, createdAt, strategyId } = yield* insertStrategy(yield* insertTenant)
      const half = [
        { assetId: usdc, weight: 5000 },
        { assetId: weth, weight: 5000 }
      ]
      yield* store.publish({ strategyId, allocation: half, changeLog: "halves", createdAt: after(1) })
      yield* store.publish({ strategyId, allocation: half, changeLog: null, createdAt: after(2) })
      const all = [
        { version: 3, allocation: half, changeLog: null, isHead: true, createdAt: after(2) },
        { version: 2, allocation: half, changeLog: "halves", isHead: false, createdAt: after(1) },
        { version: 1, allocation, changeLog: null, isHead: false, createdAt }
      ]
      assert.deepStrictEqual(yield* store.versions(strategyId, { limit: 5, before: null }), all)
      assert.deepStrictEqual(yield* store.versions(strategyId, { limit: 1, before: null }), all.slice(0, 2))
      assert.deepStrictEqual(yield* store.versions(strategyId, { limit: 1, before: 3 }), all.slice(1))
      assert.deepStrictEqual(yield* store.versions(strategyId, { limit: 1, before: 1 }), [])
      assert.deepStrictEqual(yield* store.versions(yield* makeStrategyId, { limit: 1, before: null }), [])
    })
  )

  it.effect("does not publish a version of an unknown strategy", () =>
    Effect.gen(function* () {
      const store = yield* StrategyStore
      const version = { strategyId: yield* makeStrategyId, allocation: [], changeLog: null, createdAt: after(0) }
      assert.isTrue(Exit.hasDies(yield* Effect.exit(store.publish(version))))
    })
  )

  it.effect("never changes or removes a published version", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { strategyId } = yield* insertStrategy(yield* insertTenant)
      const change = sql`UPDATE strategy_versions SET allocation = '[]'::jsonb WHERE strategy_id = ${strategyId}`
      const removal = sql`DELETE FROM strategy_versions WHERE strategy_id = ${strategyId}`
      assert.isTrue(Exit.isFailure(yield* Effect.exit(change)))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(removal)))
    })
  )

  it.effect("dies rather than answer a stored allocation that is none", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { strategyId } = yield* insertStrategy(yield* insertTenant)
      yield* sql`INSERT INTO strategy_versions SELECT strategy_id, 2, '[{"assetId": "gold", "weight": 1}]'::jsonb, null,
        created_at
        FROM strategies WHERE strategy_id = ${strategyId}`
      yield* sql`UPDATE strategies SET head_version = 2 WHERE strategy_id = ${strategyId}`
      const exit = yield* Effect.exit(Effect.flatMap(StrategyStore, (store) => store.find(strategyId)))
      assert.isTrue(Exit.hasDies(exit))
    })
  )

  it.effect("lists a tenant's strategies newest first and page by page", () =>
    Effect.gen(function* () {
      const store = yield* StrategyStore
      const tenantId = yield* insertTenant
      yield* insertStrategy(yield* insertTenant)
      const ids = []
      for (let n = 0; n < 5; n++) {
        const strategy = { ...(yield* newStrategy(tenantId)), createdAt: after(Math.floor(n / 2)) }
        yield* store.insert(strategy)
        ids.unshift(strategy.strategyId)
      }
      const first = yield* store.list(tenantId, {}, { limit: 2, after: null })
      assert.deepStrictEqual(
        first.map((s) => s.strategyId),
        ids.slice(0, 3)
      )
      const last = first[1]!
      const second = yield* store.list(
        tenantId,
        {},
        {
          limit: 10,
          after: { createdAt: last.createdAt, id: last.strategyId }
        }
      )
      assert.deepStrictEqual(
        second.map((s) => s.strategyId),
        ids.slice(2)
      )
    })
  )
})

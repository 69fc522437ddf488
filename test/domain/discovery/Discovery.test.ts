import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Decimal from "#domain/values/Decimal.ts"
import { Discovery } from "#domain/discovery/Discovery.ts"
import { type DiscoveryEntry, DiscoveryStore } from "#domain/discovery/DiscoveryStore.ts"
import type { StrategyId } from "#domain/values/Ids.ts"
import { testSettings, TestSettings } from "#test/support/settings.ts"

const measuredAt = DateTime.makeUnsafe(1_000_000)
const { intervalMs } = testSettings.discovery

const entry = (position: number, measured: DateTime.Utc | null): DiscoveryEntry => ({
  item: {
    strategyId: "01JQ8ZKX4V6T3M9N2C5B7D8F0G" as StrategyId,
    name: "Blue chips",
    description: null,
    maxApy: null,
    allocation: [],
    createdAt: measuredAt,
    canMirror: true,
    metrics: {
      tvlUsd: Decimal.one,
      portfolioCount: 2,
      windows: [{ window: "1d", percentChange: Decimal.one, since: "1969-12-31" }]
    }
  },
  position: { collection: "curated", position },
  measuredAt: measured
})

const listing = (entries: ReadonlyArray<DiscoveryEntry>, limit?: number) =>
  Effect.flatMap(Discovery, (discovery) => discovery.list({ collection: "curated", limit })).pipe(
    Effect.provide(
      Discovery.layer.pipe(
        Layer.provide(TestSettings),
        Layer.provide(
          Layer.mock(DiscoveryStore, { curated: (_after, count) => Effect.succeed(entries.slice(0, count + 1)) })
        )
      )
    )
  )

describe("Discovery", () => {
  it.effect("answers the metrics until analytics are three intervals old, then that they are unknown", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(measuredAt.epochMilliseconds + 3 * intervalMs)
      const [known] = (yield* listing([entry(1, measuredAt)])).items
      assert.deepStrictEqual(known, entry(1, measuredAt).item)
      yield* TestClock.adjust(1)
      const [stale] = (yield* listing([entry(1, measuredAt)])).items
      assert.deepStrictEqual(stale!.metrics, { tvlUsd: null, portfolioCount: null, windows: [] })
    })
  )

  it.effect("has no metrics before the first pass", () =>
    Effect.gen(function* () {
      const [item] = (yield* listing([entry(1, null)])).items
      assert.isNull(item!.metrics.tvlUsd)
      assert.isNull(item!.metrics.portfolioCount)
    })
  )

  it.effect("names the next page only when there is one", () =>
    Effect.gen(function* () {
      const entries = [entry(1, null), entry(2, null)]
      const first = yield* listing(entries, 1)
      assert.strictEqual(first.items.length, 1)
      assert.isNotNull(first.nextCursor)
      const whole = yield* listing(entries, 2)
      assert.strictEqual(whole.items.length, 2)
      assert.isNull(whole.nextCursor)
      assert.isNull((yield* listing([])).nextCursor)
    })
  )
})

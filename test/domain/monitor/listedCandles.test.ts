/** Where candles of an asset come from, and when they are too old to count. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { AssetIndex } from "#domain/listing/AssetIndex.ts"
import { makeSnapshot } from "#domain/listing/AssetSnapshot.ts"
import { type Listing, makeListings } from "#domain/listing/Listing.ts"
import { makeMarketView } from "#domain/listing/MarketView.ts"
import { coinCandles, stockCandles } from "#domain/marketData/coinDatasets.ts"
import type { Dataset } from "#domain/marketData/Dataset.ts"
import { MarketDataCache } from "#domain/marketData/MarketDataCache.ts"
import { CandleChanges } from "#domain/monitor/CandleChanges.ts"
import { ListedCandles } from "#domain/monitor/listedCandles.ts"
import { baseWeth } from "#test/support/assets.ts"

const half = 1_800_000
const now = 1_767_225_600_000
const [coin, share, plain, unknown] = ["coin", "share", "plain", "unknown"] as unknown as ReadonlyArray<AssetId>

/** Half-hour candles up to now whose closes grow by one dollar from `first`. */
const candles = (first: number) =>
  Array.from({ length: 48 }, (_, n) => ({
    timestamp: now - (48 - n) * half,
    open: "1",
    high: "1",
    low: "1",
    close: `${first + n}`,
    volume: null
  }))

const [listing] = makeListings(
  [
    {
      caipAssetId: baseWeth.assetId,
      symbol: "WETH",
      name: "Wrapped Ether",
      decimals: 18,
      issuer: null,
      unitModel: null,
      subject: null,
      categories: []
    }
  ],
  { coinIdOf: () => undefined, coinIds: [], homeOf: () => undefined },
  { version: "none", of: () => undefined }
)

const Index = Layer.effect(
  AssetIndex,
  Effect.gen(function* () {
    const view = makeMarketView({ get: () => undefined, revision: () => 0, load: Effect.void }, [], now)
    const empty = yield* makeSnapshot([], view)
    const byId = new Map<string, Listing>([
      [coin!, { ...listing!, coinId: "a-coin", ticker: null }],
      [share!, { ...listing!, coinId: "another", ticker: "TSLA" }],
      [plain!, { ...listing!, coinId: null, ticker: null }]
    ])
    return AssetIndex.of({ current: () => ({ ...empty, byId }), load: Effect.void })
  })
)

const changeOf = (assetId: AssetId | undefined, expiresAt: number) =>
  Effect.map(CandleChanges, (change) => change(assetId!, 4, now)).pipe(
    Effect.provide(
      ListedCandles.pipe(
        Layer.provide([
          Index,
          Layer.mock(MarketDataCache, {
            revision: () => 0,
            get: <A>(dataset: Dataset<A>, key?: string) => {
              const found =
                dataset.name === coinCandles("day").name && key === "a-coin"
                  ? candles(100)
                  : dataset.name === stockCandles("day").name && key === "TSLA"
                    ? candles(300)
                    : undefined
              return found === undefined
                ? undefined
                : {
                    data: found as A,
                    provider: "coingecko" as const,
                    fetchedAt: DateTime.makeUnsafe(now),
                    expiresAt: DateTime.makeUnsafe(expiresAt)
                  }
            }
          })
        ])
      )
    )
  )

const usd = (dollars: number) => BigInt(dollars) * Decimal.one

describe("candles of listed assets", () => {
  it.effect("are those of the share behind a token, or of the coin; what has neither or is not listed has none", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* changeOf(coin, now + 1), { before: usd(139), now: usd(147) })
      assert.deepStrictEqual(yield* changeOf(share, now + 1), { before: usd(339), now: usd(347) })
      assert.isUndefined(yield* changeOf(plain, now + 1))
      assert.isUndefined(yield* changeOf(unknown, now + 1))
    })
  )

  it.effect("are not known beyond their life in the cache", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* changeOf(coin, now))
      assert.isDefined(yield* changeOf(coin, now + 1))
    })
  )
})

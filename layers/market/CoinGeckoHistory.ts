/**
 * Past prices from CoinGecko's `GET /coins/{platform}/contract/{address}/market_chart`.
 *
 * With `interval=daily` it answers the price at 00:00 UTC of each day and, at the end, that of the moment; of two
 * points in one day the first counts. Plans without a price reach back 365 days.
 */
import { Clock, DateTime, Effect, Layer, Option, Schema } from "effect"
import { addressOf, type AssetId, chainIdOf } from "#domain/values/Caip.ts"
import * as Day from "#domain/values/Day.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { type DayPrice, PriceHistory } from "#domain/market/PriceHistory.ts"
import { CoinGeckoClient } from "#layers/market/CoinGeckoClient.ts"
import { CoinGeckoPlatforms } from "#layers/market/CoinGeckoPlatforms.ts"

/** Far more points than a year of days has, so that an answer in a finer grain is still read. */
const maxPoints = 20_000

const MarketChart = Schema.Struct({ prices: Schema.Array(Schema.Unknown).check(Schema.isMaxLength(maxPoints)) })

const decodePoint = Schema.decodeUnknownOption(Schema.Tuple([Schema.Int, Schema.Finite]))

const readPoint = (point: unknown): Option.Option<{ readonly at: DateTime.Utc; readonly usd: bigint }> =>
  Option.flatMap(decodePoint(point), ([millis, price]) => {
    const usd = Decimal.fromNumber(price)
    return usd === undefined || usd <= 0n ? Option.none() : Option.map(DateTime.make(millis), (at) => ({ at, usd }))
  })

/** One price a day in the order of the days; points outside of them and points that say nothing usable are dropped. */
const byDay = (points: ReadonlyArray<unknown>, first: Day.Day, last: Day.Day): ReadonlyArray<DayPrice> => {
  const earliest = new Map<Day.Day, { readonly millis: number; readonly usd: bigint }>()
  for (const point of points) {
    const read = readPoint(point)
    if (Option.isNone(read)) continue
    const { at, usd } = read.value
    const day = Day.of(at)
    const known = earliest.get(day)
    if (day < first || day > last || (known !== undefined && known.millis <= at.epochMilliseconds)) continue
    earliest.set(day, { millis: at.epochMilliseconds, usd })
  }
  return [...earliest].map(([day, { usd }]) => ({ day, usd })).sort((a, b) => a.day - b.day)
}

export const CoinGeckoHistory = Layer.effect(
  PriceHistory,
  Effect.gen(function* () {
    const client = yield* CoinGeckoClient
    const platforms = yield* CoinGeckoPlatforms

    const daily = Effect.fn("CoinGeckoHistory.daily")(function* (assetId: AssetId, days: number) {
      const platform = yield* platforms.of(chainIdOf(assetId))
      if (platform === undefined) return []
      const chart = yield* client.find({
        path: `/coins/${platform}/contract/${addressOf(assetId).toLowerCase()}/market_chart`,
        params: { vs_currency: "usd", days: String(days), interval: "daily", precision: "full" },
        schema: MarketChart
      })
      const today = Day.of(DateTime.makeUnsafe(yield* Clock.currentTimeMillis))
      return Option.match(chart, {
        onNone: () => [],
        onSome: ({ prices }) => byDay(prices, Day.add(today, -days), today)
      })
    })

    return PriceHistory.of({ daily })
  })
).pipe(Layer.provide([CoinGeckoClient.layer, CoinGeckoPlatforms.layer]))

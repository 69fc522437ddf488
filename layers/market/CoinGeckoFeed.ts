/**
 * Quotes polled from CoinGecko: all followed coins in one request, and no request while none is followed.
 */
import { Clock, Duration, Effect, Option, Queue, Result, Schema, Stream } from "effect"
import { type FeedItem, type FeedState, type MarketFeed } from "#domain/stream/MarketFeed.ts"
import type { PublicAsset } from "#domain/stream/PublicAsset.ts"
import { sleepRealTime } from "#layers/clock/withinRealTime.ts"
import { CoinGeckoClient } from "#layers/market/CoinGeckoClient.ts"
import { marketParams } from "#layers/market/coingecko/tokenPrices.ts"

/** Coins in one request, which is one address line. */
const idsPerRequest = 250
const longestPause = 60_000
const maxWaiting = 100
/** How soon the first follower is noticed. */
const idlePollMillis = 250

const OptionalFigure = Schema.optionalKey(Schema.NullOr(Schema.Number))
const Row = Schema.Struct({
  usd: Schema.Number,
  usd_market_cap: OptionalFigure,
  usd_24h_vol: OptionalFigure,
  usd_24h_change: OptionalFigure,
  /** Unix seconds. */
  last_updated_at: Schema.Number
})
const readRow = Schema.decodeUnknownOption(Row)

const toItem = ({ symbol }: PublicAsset, row: unknown): FeedItem =>
  Option.match(readRow(row), {
    onNone: () => Result.fail("malformed"),
    onSome: (known) =>
      Result.succeed({
        symbol,
        figures: {
          kind: "quote",
          priceUsd: known.usd,
          change24hPct: known.usd_24h_change ?? null,
          volume24hUsd: known.usd_24h_vol ?? null,
          marketCapUsd: known.usd_market_cap ?? null,
          asOfMs: Math.round(known.last_updated_at * 1_000)
        }
      })
  })

export const makeCoinGeckoFeed = Effect.fnUntraced(function* (pollMs: number) {
  const client = yield* CoinGeckoClient

  const ask = Effect.fnUntraced(function* (assets: ReadonlyArray<PublicAsset>) {
    const ids = [...new Set(assets.map(({ coingeckoId }) => coingeckoId!))]
    const rows = yield* client.get({
      path: "/simple/price",
      params: { ids: ids.join(","), ...marketParams },
      schema: Schema.Record(Schema.String, Schema.Unknown)
    })
    return assets.flatMap((asset) => {
      const row = rows[asset.coingeckoId!]
      return row === undefined ? [] : [toItem(asset, row)]
    })
  })

  const feed: MarketFeed = {
    provider: "coingecko",
    isPolled: true,
    figures: (wanted, report) =>
      Stream.unwrap(
        Effect.gen(function* () {
          const out = yield* Queue.sliding<ReadonlyArray<FeedItem>>(maxWaiting)
          let state: FeedState = { status: "connecting", attempt: 0, nextAttemptAt: null, reason: null }
          const become = (next: FeedState) => {
            state = next
            report(next)
          }

          const round = Effect.gen(function* () {
            const assets = (yield* wanted).filter(({ coingeckoId }) => coingeckoId !== undefined)
            if (assets.length === 0) {
              become({ status: "disconnected", attempt: 0, nextAttemptAt: null, reason: "nothing is followed" })
              return Math.min(pollMs, idlePollMillis)
            }
            if (state.status !== "connected") become({ ...state, status: "connecting" })
            for (let first = 0; first < assets.length; first += idsPerRequest) {
              const items = yield* ask(assets.slice(first, first + idsPerRequest))
              if (items.length > 0) yield* Queue.offer(out, items)
            }
            become({ status: "connected", attempt: 0, nextAttemptAt: null, reason: null })
            return pollMs
          }).pipe(
            Effect.catch(
              Effect.fnUntraced(function* ({ reason }) {
                const attempt = state.attempt + 1
                const pause = Math.min(longestPause, pollMs * 2 ** Math.min(attempt - 1, 6))
                if (attempt === 1) yield* Effect.logWarning(`CoinGecko gives no quotes: ${reason}`)
                const nextAttemptAt = (yield* Clock.currentTimeMillis) + pause
                become({ status: "error", attempt, nextAttemptAt, reason })
                return pause
              })
            )
          )
          const polling = Effect.flatMap(round, (pause) => sleepRealTime(Duration.millis(pause)))
          yield* Effect.forkScoped(Effect.forever(polling))
          return Stream.fromQueue(out)
        })
      )
  }
  return feed
})

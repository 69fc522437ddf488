/**
 * Keeps the worker's registry of public assets as the catalogue has it: compares every few seconds and sends what
 * differs. So a worker that is new, or was restarted, has its assets after one pass, without a request of its own.
 */
import { Duration, Effect, Layer } from "effect"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"
import { MarketDataStream } from "#domain/stream/MarketDataStream.ts"
import { maxUpsert, type PublicAsset } from "#domain/stream/PublicAsset.ts"
import { PublicAssets } from "#domain/stream/PublicAssets.ts"

const pollInterval = Duration.seconds(3)

const textOf = ({ assetClass, coingeckoId = "", provider, symbol }: PublicAsset) =>
  [assetClass, symbol, provider, coingeckoId].join("|")

/** One pass; returns how many assets were sent. */
const pushRegistry = Effect.gen(function* () {
  const stream = yield* MarketDataStream
  const wanted = yield* (yield* PublicAssets).all
  const known = new Set((yield* stream.registered).map(textOf))
  const missing = wanted.filter((asset) => !known.has(textOf(asset)))
  for (let first = 0; first < missing.length; first += maxUpsert) {
    yield* stream.upsert(missing.slice(first, first + maxUpsert))
  }
  return missing.length
})

export const RegistryPush = Layer.effectDiscard(
  Effect.gen(function* () {
    let isAway = false
    const once = pushRegistry.pipe(
      Effect.flatMap((sent) => {
        isAway = false
        return sent === 0 ? Effect.void : Effect.logInfo(`The stream worker was sent ${sent} assets`)
      }),
      Effect.catchTag("MarketDataStreamFailed", ({ reason }) => {
        if (isAway) return Effect.void
        isAway = true
        return Effect.logWarning(`The stream worker cannot be sent the catalogue: ${reason}`)
      })
    )
    yield* keepGoingEvery(once, {
      complaint: "The catalogue could not be sent to the stream worker",
      interval: pollInterval
    })
  })
)

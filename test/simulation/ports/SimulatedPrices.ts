/** The price feed of a simulation: some minutes old at most, or not there. */
import { DateTime, Effect, Layer } from "effect"
import { Prices, PricesUnavailable } from "#domain/market/Prices.ts"
import { asks } from "#test/simulation/ports/link.ts"
import type { World } from "#test/simulation/world/World.ts"

const oldestMs = 60_000

export const simulatedPrices = (world: World) =>
  Layer.succeed(
    Prices,
    Prices.of({
      latest: (assetIds) =>
        Effect.gen(function* () {
          if (!(yield* asks(world, world.pricesDownUntil))) {
            world.trace.note("fault: prices do not answer")
            return yield* new PricesUnavailable({ reason: "the feed does not answer" })
          }
          const at = world.harness.now - world.random.between(0, oldestMs)
          const asOf = DateTime.makeUnsafe(at)
          return new Map(
            assetIds.flatMap((assetId) => {
              const usd = world.market.price(assetId, at)
              return usd === undefined ? [] : [[assetId, { usd, asOf }] as const]
            })
          )
        })
    })
  )

/** Quotes of a simulated chain's pools. */
import { Layer } from "effect"
import { assumedExecution } from "#domain/trading/Swap.ts"
import { Venue } from "#domain/trading/Venue.ts"
import { onChain } from "#test/simulation/ports/link.ts"
import { feeBps } from "#test/simulation/world/Market.ts"
import type { World } from "#test/simulation/world/World.ts"

export const simulatedVenue = (world: World) =>
  Layer.succeed(
    Venue,
    Venue.of({
      assumedFeeBps: () => feeBps,
      quote: ({ chainId, requests }) =>
        onChain(world, chainId, () =>
          requests.map(({ buy, sell, sellAmountRaw }) => {
            const buyAmountRaw = world.market.output({ sell, buy }, sellAmountRaw, world.harness.now)
            return buyAmountRaw === null
              ? null
              : {
                  buyAmountRaw,
                  execution: assumedExecution({ sell, buy }),
                  priceImpactBps: 0,
                  feeRaw: (sellAmountRaw * BigInt(feeBps)) / 10_000n,
                  furtherFeeBps: 0
                }
          })
        )
    })
  )

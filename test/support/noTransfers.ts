/** A routing provider and chains that know of no transfer, for suites in which value stays where it is. */
import { Effect, Layer } from "effect"
import { Routing } from "#domain/routing/Routing.ts"
import { Arrivals } from "#domain/transfer/Arrivals.ts"

export const NoTransfers = Layer.merge(
  Layer.succeed(Routing, {
    quote: () => Effect.succeedNone,
    swapOffers: () => Effect.succeed([]),
    swapCall: () => Effect.die(new Error("No offer was made")),
    status: () => Effect.succeed({ _tag: "Pending", detail: "not known" } as const)
  }),
  Layer.succeed(Arrivals, { read: () => Effect.succeedNone, carriedAt: () => Effect.succeedNone })
)

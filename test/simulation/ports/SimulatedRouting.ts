/** The provider of routes over the simulated bridge. It offers no swaps. */
import { Effect, Layer, Option } from "effect"
import { RouteRefused, Routing, RoutingUnavailable } from "#domain/trading/Routing.ts"
import { asks } from "#test/simulation/ports/link.ts"
import type { World } from "#test/simulation/world/World.ts"

const tool = "ferry"

export const simulatedRouting = (world: World) => {
  const unanswered = Effect.suspend(() => {
    world.trace.note("fault: the provider of routes does not answer")
    return Effect.fail(new RoutingUnavailable({ reason: "the provider does not answer" }))
  })
  return Layer.succeed(
    Routing,
    Routing.of({
      quote: ({ amountRaw, minRaw }) =>
        Effect.gen(function* () {
          if (!(yield* asks(world, 0))) return yield* unanswered
          const expectedRaw = world.bridge.expected(amountRaw)
          if (expectedRaw < minRaw) return yield* new RouteRefused({ reason: "the route may deliver too little" })
          return Option.some({ tool, minRaw, expectedRaw, durationSeconds: 60 })
        }),
      swapQuotes: () => Effect.map(asks(world, 0), () => []),
      swapCall: () => Effect.fail(new RouteRefused({ reason: "nothing was offered" })),
      status: ({ txHash }) =>
        Effect.gen(function* () {
          if (!(yield* asks(world, 0)) || world.random.chance(world.bridge.faults.silent)) return yield* unanswered
          return world.bridge.status(txHash)
        })
    })
  )
}

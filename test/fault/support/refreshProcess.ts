/**
 * A process that refreshes market data on the database of its environment; the fetch that the test wants it to die in
 * never ends.
 */
import { Console, Duration, Effect, Layer } from "effect"
import { MarketDataJobs } from "#domain/marketData/MarketDataJobs.ts"
import { MarketDataRefresh } from "#domain/marketData/MarketDataRefresh.ts"
import { storesOn } from "#test/support/database.ts"

const perMinute = { coingecko: 100, massive: 100, coinbase: 100, xstocks: 100 }
const job = (name: string, priority: number, fetch: Effect.Effect<{ data: unknown; problems: [] }>) => ({
  name,
  provider: "coingecko" as const,
  interval: Duration.minutes(10),
  priority,
  fetch
})

const Jobs = Layer.succeed(MarketDataJobs, {
  all: Effect.succeed([
    job("first", 0, Effect.succeed({ data: { from: "the one that was killed" }, problems: [] })),
    job("second", 1, Effect.andThen(Console.log("fetching"), Effect.never))
  ]),
  perMinute
})

await Effect.runPromise(
  Effect.flatMap(MarketDataRefresh, ({ tick }) => tick).pipe(
    Effect.provide(MarketDataRefresh.layer.pipe(Layer.provide(Jobs))),
    Effect.provide(storesOn(process.env["DATABASE_URL"]!))
  )
)

/** The process that fills the shared cache of market data is killed with -9 in the middle of a fetch. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { MarketDataJobs } from "#domain/marketData/MarketDataJobs.ts"
import { MarketDataRefresh } from "#domain/marketData/MarketDataRefresh.ts"
import { MarketDataStore } from "#domain/marketData/MarketDataStore.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { newServerDatabase, storesOn } from "#test/support/database.ts"

const program = join(import.meta.dirname, "support/refreshProcess.ts")
const names = ["first", "second"] as const

const Jobs = Layer.succeed(MarketDataJobs, {
  all: Effect.succeed(
    names.map((name, priority) => ({
      name,
      provider: "coingecko" as const,
      interval: Duration.minutes(10),
      priority,
      fetch: Effect.succeed({ data: { from: "the survivor" }, problems: [] })
    }))
  ),
  perMinute: { coingecko: 100, massive: 100, coinbase: 100, xstocks: 100 }
})

/** Starts a holder, waits until it fetches, and kills it. */
const holdAndDie = (url: string) =>
  Effect.promise(async () => {
    const child = spawn(process.execPath, ["--no-warnings", program], {
      env: { ...process.env, DATABASE_URL: url },
      stdio: ["ignore", "pipe", "inherit"]
    })
    const ended = once(child, "close")
    const fetches = new Promise<void>((resolve) =>
      child.stdout.on("data", (text: Buffer) => (text.includes("fetching") ? resolve() : undefined))
    )
    await Promise.race([fetches, ended])
    child.kill("SIGKILL")
    const [, signal] = (await ended) as [number | null, NodeJS.Signals | null]
    assert.strictEqual(signal, "SIGKILL", "the holder ended before it was killed")
  })

describe("the lease of market data", () => {
  if (newServerDatabase === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const database = newServerDatabase
  it.live("when its holder is killed with -9, another process takes over once the lease has ended, and fetches", () =>
    Effect.gen(function* () {
      const url = yield* database
      yield* holdAndDie(url)
      yield* Effect.gen(function* () {
        const { tick } = yield* MarketDataRefresh
        const store = yield* MarketDataStore
        const clock = yield* MovableClock
        const dataOf = Effect.map(store.read([...names]), (stored) =>
          Object.fromEntries(stored.map(({ data, name }) => [name, (data as { readonly from: string }).from]))
        )
        assert.isFalse(yield* tick)
        assert.deepStrictEqual(yield* dataOf, { first: "the one that was killed" })
        clock.advance(61_000)
        assert.isTrue(yield* tick)
        // What the dead one brought is fresh still; what it was about to bring is fetched.
        assert.deepStrictEqual(yield* dataOf, { first: "the one that was killed", second: "the survivor" })
        clock.advance(600_000)
        assert.isTrue(yield* tick)
        assert.deepStrictEqual(yield* dataOf, { first: "the survivor", second: "the survivor" })
      }).pipe(
        Effect.provide(MarketDataRefresh.layer.pipe(Layer.provide(Jobs))),
        Effect.provide(storesOn(url)),
        Effect.provide(MovableClock.layer)
      )
    }).pipe(Effect.scoped)
  )
})

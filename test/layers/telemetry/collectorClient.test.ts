/** What is said of a collector that does not take what it is sent: once, and not at each export. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { collectorClient } from "#layers/telemetry/collectorClient.ts"

type Reply = number | "unreachable"

/** Sends an export for each reply of a collector, and answers the lines that were logged, each behind its sending. */
const reportedOf = (...replies: ReadonlyArray<Reply>) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const reported = Logger.layer([
      Logger.make(({ logLevel, message }) => lines.push(`${logLevel} ${String(message)}`))
    ])
    const left = [...replies]
    const fetched: typeof fetch = async () => {
      const reply = left.shift()!
      if (reply === "unreachable") throw new TypeError("fetch failed")
      return new Response("{}", { status: reply })
    }
    const client = yield* Layer.build(collectorClient("http://collector:4318").pipe(Layer.provide(reported)))
    const seen: Array<readonly [number, string]> = []
    for (const [place] of replies.entries()) {
      yield* Effect.exit(HttpClient.post("http://collector:4318/v1/logs")).pipe(
        Effect.provideContext(client),
        Effect.provideService(FetchHttpClient.Fetch, fetched)
      )
      for (const line of lines.splice(0)) seen.push([place, line])
    }
    return seen
  })

describe("a collector", () => {
  it.effect("that cannot be reached is one line at Warn, and one more when it takes exports again", () =>
    Effect.gen(function* () {
      const seen = yield* reportedOf("unreachable", "unreachable", "unreachable", "unreachable", 200, 200)
      assert.deepStrictEqual(
        seen.map(([place]) => place),
        [1, 4]
      )
      const [away, back] = seen.map(([, line]) => line)
      assert.match(away!, /^Warn Traces, metrics and logs do not reach the collector at http:\/\/collector:4318: /u)
      assert.match(back!, /^Warn The collector at http:\/\/collector:4318 takes exports again$/u)
    })
  )

  it.effect("that refuses what it is sent is reported of too, with its status", () =>
    Effect.gen(function* () {
      const [[, line] = [], ...others] = yield* reportedOf(401, 401, 401)
      assert.isEmpty(others)
      assert.include(line, "it answers 401")
    })
  )

  it.effect("that misses one sending is not reported of", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* reportedOf("unreachable", 200, 503, 200), [])
    })
  )

  it.effect("that goes away again is reported of again", () =>
    Effect.gen(function* () {
      const seen = yield* reportedOf("unreachable", 500, 200, "unreachable", 500)
      assert.deepStrictEqual(
        seen.map(([place]) => place),
        [1, 2, 4]
      )
    })
  )
})

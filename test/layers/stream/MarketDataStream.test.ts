/** The API's side of the stream worker's internal routes, against a real worker. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { InternalToken } from "#domain/stream/InternalToken.ts"
import { MarketDataStream } from "#domain/stream/MarketDataStream.ts"
import { MarketDataStreamLive } from "#layers/stream/MarketDataStreamLive.ts"
import { assets, internalToken, startWorker } from "#test/stream/support/startWorker.ts"

let worker: Awaited<ReturnType<typeof startWorker>>
beforeAll(async () => {
  worker = await startWorker({ providers: ["coingecko"] })
})
afterAll(() => worker.stop())

const withStream = <A, E>(
  url: string | null,
  use: (stream: MarketDataStream["Service"]) => Effect.Effect<A, E>,
  token = internalToken
) =>
  Effect.flatMap(MarketDataStream, use).pipe(
    Effect.provide(MarketDataStreamLive(url).pipe(Layer.provide(Layer.succeed(InternalToken, Redacted.make(token)))))
  )

describe("the stream worker, as the API reaches it", () => {
  it.live("answers its status, connects, disconnects, and takes assets", () =>
    withStream(worker.url, (stream) =>
      Effect.gen(function* () {
        const { providers, topics } = yield* stream.status
        assert.deepStrictEqual(
          providers.map(({ provider, reason }) => [provider, reason]),
          [
            ["massive", "not configured"],
            ["coingecko", null]
          ]
        )
        assert.deepStrictEqual(topics, [])
        assert.deepInclude(yield* stream.connect("coingecko"), { provider: "coingecko" })
        assert.deepInclude(yield* stream.disconnect("coingecko"), { provider: "coingecko", noop: true })
        yield* stream.upsert([{ assetClass: "equity", provider: "massive", symbol: "NEW" }])
        assert.lengthOf(yield* stream.registered, assets.length + 1)
      })
    )
  )

  it.live("says whose fault it is when nothing was done", () =>
    Effect.gen(function* () {
      const failure = (url: string | null, token?: string) =>
        withStream(url, (stream) => Effect.flip(stream.connect("massive")), token)
      assert.deepInclude(yield* failure(worker.url), {
        isOurs: false,
        reason: "This deployment has no key for massive"
      })
      assert.deepInclude(yield* failure(worker.url, "another-token-of-the-tests"), { isOurs: true })
      assert.deepInclude(yield* failure("http://127.0.0.1:9"), {
        isOurs: true,
        reason: "The stream worker cannot be reached"
      })
      const none = yield* failure(null)
      assert.isTrue(none.isOurs)
      assert.include(none.reason, "STREAM_URL")
    })
  )
})

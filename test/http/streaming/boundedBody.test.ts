/** A body between the fiber that makes it and the connection that takes it, by a virtual clock. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Duration, Effect, Exit, Logger, Stream } from "effect"
import { TestClock } from "effect/testing"
import { ShutdownState } from "#http/ShutdownState.ts"
import { boundedBody } from "#http/streaming/boundedBody.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const timing = {
  heartbeat: Duration.seconds(1),
  budget: 100,
  grace: Duration.seconds(2),
  timeout: Duration.seconds(5),
  longest: Duration.seconds(60)
}

const begun = Stream.concat(Stream.make("a", "b"), Stream.never)

/** A body whose text is pulled; `request` is the fiber that is interrupted when its client is cut. */
const pulled = Effect.fnUntraced(function* (stream: Stream.Stream<string>, times: Partial<typeof timing> = {}) {
  const request = yield* Effect.forkScoped(Effect.never)
  const body = boundedBody(
    { stream, bytesOf: (text) => encoder.encode(text) },
    {
      request,
      timing: { ...timing, ...times },
      closing: yield* ShutdownState,
      greeting: encoder.encode("hello"),
      heartbeat: encoder.encode("+")
    }
  )
  const pull = Effect.map(yield* Stream.toPull(body), (chunks) =>
    chunks.map((bytes) => decoder.decode(bytes)).join(" ")
  )
  return { pull, request }
})

describe("a bounded body", () => {
  it.effect("is greeted first, then what was made, and a heartbeat while nothing is", () =>
    Effect.gen(function* () {
      const { pull } = yield* pulled(begun)
      assert.strictEqual(yield* pull, "hello")
      assert.strictEqual(yield* pull, "a b")
      const next = yield* Effect.forkChild(pull, { startImmediately: true })
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(next.pollUnsafe(), Exit.succeed("+"))
    }).pipe(Effect.scoped, Effect.provide(ShutdownState.layer))
  )

  it.effect("ends with the server, after what was made", () =>
    Effect.gen(function* () {
      const { pull } = yield* pulled(begun)
      assert.strictEqual(yield* pull, "hello")
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      yield* (yield* ShutdownState).begin
      assert.strictEqual(yield* pull, "a b")
      const end = yield* Effect.exit(pull)
      assert.isTrue(Exit.isFailure(end) && Cause.isDone(Cause.squash(end.cause)))
    }).pipe(Effect.scoped, Effect.provide(ShutdownState.layer))
  )

  it.effect("that has ended is still cut when its client takes nothing", () =>
    Effect.gen(function* () {
      const { pull, request } = yield* pulled(begun, { longest: Duration.seconds(2) })
      assert.strictEqual(yield* pull, "hello")
      assert.strictEqual(yield* pull, "a b")
      yield* TestClock.adjust("4 seconds")
      assert.isUndefined(request.pollUnsafe())
      yield* TestClock.adjust("2 seconds")
      const cut = request.pollUnsafe()
      assert.isTrue(cut !== undefined && Exit.hasInterrupts(cut))
    }).pipe(Effect.scoped, Effect.provide(ShutdownState.layer), Effect.provide(Logger.layer([])))
  )
})

/**
 * The client of streams against servers that break: it goes on after the last event, waits as it should, and gives up
 * in the end.
 */
import { assert, describe, it } from "@effect/vitest"
import { executionEvents, type ExecutionEvent, NotFound } from "#client/effect/effect.ts"
import { Effect, Fiber, Layer, Redacted, Stream } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import type { OperationId } from "#domain/values/Ids.ts"

const operationId = "op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1" as OperationId
const options = { baseUrl: "http://api.test", apiKey: Redacted.make("bk_live_x") }

const event = (sequence: number, kind: string, payload: object) => {
  const cursor = `1772443800000-${sequence}`
  const data = {
    streamId: `execution:${operationId}`,
    eventId: cursor,
    sequence,
    ts: "2026-03-02T09:30:00.000Z",
    kind,
    operationId,
    cursor,
    payload
  }
  return `id: ${cursor}\nevent: ${kind}\ndata: ${JSON.stringify(data)}\n\n`
}

const snapshot = (sequence: number) =>
  event(sequence, "execution.snapshot", {
    operationId,
    portfolioId: "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8",
    kind: "rebalance",
    state: "running",
    submittedAt: "2026-03-02T09:30:00.000Z",
    createdAt: "2026-03-02T09:30:00.000Z",
    updatedAt: "2026-03-02T09:30:00.000Z",
    finishedAt: null,
    error: null,
    refs: { eventId: `1772443800000-${sequence}` }
  })
const retrying = (sequence: number) => event(sequence, "execution.state_changed", { from: "running", to: "retrying" })
const failed = (sequence: number) =>
  event(sequence, "execution.error", { code: "EXECUTION_FAILED", message: "no", retryable: true })

type Reply = (() => Response) | "nobody answers"

const stream =
  (...chunks: ReadonlyArray<string>) =>
  () =>
    new Response(chunks.join(""), { headers: { "content-type": "text/event-stream" } })

const broken =
  (...chunks: ReadonlyArray<string>) =>
  () =>
    new Response(
      new ReadableStream({
        pull: (controller) => {
          const [chunk, ...others] = chunks
          chunks = others
          if (chunk === undefined) controller.error(new Error("reset"))
          else controller.enqueue(new TextEncoder().encode(chunk))
        }
      }),
      { headers: { "content-type": "text/event-stream" } }
    )

const refusal =
  (status: number, code: string, headers: Record<string, string> = {}) =>
  () =>
    Response.json(
      { success: false, error: { code, message: "no" }, correlationId: "c", requestId: "r", timestamp: "t" },
      { status, headers }
    )

/** Answers one reply after the other, the last one for ever, and notes what was asked. */
const serverOf = (...replies: readonly [Reply, ...ReadonlyArray<Reply>]) => {
  const asked: Array<string | undefined> = []
  const layer = Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) => {
      const reply = replies[Math.min(asked.length, replies.length - 1)]!
      asked.push(request.headers["last-event-id"])
      assert.strictEqual(request.headers["x-api-key"], "bk_live_x")
      return reply === "nobody answers"
        ? Effect.fail(new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request }) }))
        : Effect.succeed(HttpClientResponse.fromWeb(request, reply()))
    })
  )
  return { asked, layer }
}

const following = Effect.fnUntraced(function* (layer: Layer.Layer<HttpClient.HttpClient>) {
  const received: Array<ExecutionEvent> = []
  const fiber = yield* executionEvents(options, operationId).pipe(
    Stream.runForEach((one) => Effect.sync(() => received.push(one))),
    Effect.provide(layer),
    Effect.forkScoped
  )
  return { received, fiber }
})

/** Lets what waits for promises of the body go on; no time passes. */
const settle = Effect.promise(async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
})

const passes = (duration: string) => Effect.andThen(TestClock.adjust(duration as "1 second"), settle)

describe("executionEvents", () => {
  it.effect("goes on after the last event when a connection breaks, and receives nothing twice", () =>
    Effect.gen(function* () {
      const { asked, layer } = serverOf(
        broken("retry: 2000\n\n", snapshot(2), ": keep-alive\n\n", retrying(3).slice(0, 40), retrying(3).slice(40)),
        refusal(429, "API_004", { "retry-after": "10" }),
        stream("retry: 2000\n\n", snapshot(3), retrying(3), failed(4))
      )
      const { fiber, received } = yield* following(layer)
      yield* settle
      assert.deepStrictEqual(asked, [undefined])
      yield* passes("1999 millis")
      assert.lengthOf(asked, 1, "not before the server's own pause")
      yield* passes("1 milli")
      assert.lengthOf(asked, 2)
      yield* passes("9999 millis")
      assert.lengthOf(asked, 2, "not before Retry-After")
      yield* passes("1 milli")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(asked, [undefined, "1772443800000-3", "1772443800000-3"])
      assert.deepStrictEqual(
        received.map(({ kind, sequence }) => `${sequence} ${kind}`),
        ["2 execution.snapshot", "3 execution.state_changed", "4 execution.error"]
      )
    })
  )

  it.effect("ends when the server says that all was seen", () =>
    Effect.gen(function* () {
      const { layer } = serverOf(stream(snapshot(2)), () => new Response(null, { status: 204 }))
      const { fiber, received } = yield* following(layer)
      yield* settle
      yield* passes("1 second")
      yield* Fiber.join(fiber)
      assert.lengthOf(received, 1)
    })
  )

  it.effect("waits longer each time nobody answers, and gives up after eight in a row", () =>
    Effect.gen(function* () {
      const { asked, layer } = serverOf("nobody answers")
      const { fiber } = yield* following(layer)
      const counts: Array<number> = []
      for (const pause of [0, 1, 2, 4, 8, 16, 30, 30]) {
        yield* passes(`${pause} seconds`)
        counts.push(asked.length)
      }
      assert.deepStrictEqual(counts, [1, 2, 3, 4, 5, 6, 7, 8])
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(error._tag, "HttpClientError")
    })
  )

  it.effect("does not try again what is refused for good", () =>
    Effect.gen(function* () {
      const { asked, layer } = serverOf(refusal(404, "API_006"))
      const { fiber } = yield* following(layer)
      assert.instanceOf(yield* Effect.flip(Fiber.join(fiber)), NotFound)
      assert.lengthOf(asked, 1)
    })
  )
})

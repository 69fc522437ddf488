/** The client that follows a tenant's log over connections that break: none is missed, none is delivered twice. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, Stream } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { tenantEvents } from "#client/effect/tenantEvents.ts"

const options = { baseUrl: "http://api.test", apiKey: Redacted.make("bk_live_x") }

/**
 * The log of a tenant, which grows by `happens`; a connection sends what is in it after the position that it asks for.
 */
class Log {
  last = 0
  readonly asked: Array<string | undefined> = []

  happens(events = 1): void {
    this.last += events
  }

  frame(eventId: number): string {
    const data = {
      eventId: `${eventId}`,
      at: "2026-03-02T09:30:00.000Z",
      operationId: null,
      portfolioId: null,
      strategyId: "01JQ8ZKX4V6T3M9N2C5B7D8F0G",
      type: "strategy.archived",
      data: { version: eventId }
    }
    return `id: ${eventId}\nevent: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
  }

  /**
   * Greets with its position as the service does, sends at most so many events, `cut` bytes of the next, and breaks.
   */
  connection(lastEventId: string | undefined, { cut, sends }: Break): Response {
    this.asked.push(lastEventId)
    const position = lastEventId === undefined ? this.last : Number(lastEventId)
    const frames = Array.from({ length: this.last - position }, (_, index) => this.frame(position + index + 1))
    const chunks = [
      "retry: 1000\n\n",
      ...(lastEventId === undefined
        ? [`id: ${position}\nevent: stream.opened\ndata: {"after":"${position}"}\n\n`]
        : []),
      ...frames.slice(0, sends),
      (frames[sends] ?? ": keep-alive\n\n").slice(0, cut)
    ]
    return new Response(
      new ReadableStream({
        pull: (controller) => {
          const chunk = chunks.shift()
          if (chunk === undefined) controller.error(new Error("reset"))
          else controller.enqueue(new TextEncoder().encode(chunk))
        }
      }),
      { headers: { "content-type": "text/event-stream" } }
    )
  }
}

interface Break {
  readonly sends: number
  /** Bytes. */
  readonly cut: number
}

/** A client that follows the log over connections that each break in the given way, the last way for ever. */
const following = Effect.fnUntraced(function* (
  log: Log,
  breaks: ReadonlyArray<Break | "nobody answers">,
  after?: string
) {
  const delivered: Array<string> = []
  let connections = 0
  const layer = Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) => {
      const how = breaks[Math.min(connections, breaks.length - 1)]!
      connections += 1
      return how === "nobody answers"
        ? Effect.fail(new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request }) }))
        : Effect.succeed(HttpClientResponse.fromWeb(request, log.connection(request.headers["last-event-id"], how)))
    })
  )
  const fiber = yield* tenantEvents(options, after).pipe(
    Stream.runForEach(({ eventId }) => Effect.sync(() => delivered.push(eventId))),
    Effect.provide(layer),
    Effect.forkScoped
  )
  return { fiber, delivered }
})

/** Lets what waits for promises of the body go on; no time passes. */
const settle = Effect.promise(async () => {
  for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve))
})

/** Longer than the longest pause between two connections. */
const reconnects = Effect.andThen(TestClock.adjust("30 seconds"), settle)

const upTo = (last: number) => Array.from({ length: last }, (_, index) => `${index + 1}`)

describe("tenantEvents", () => {
  it.effect("delivers each event once and in order over connections that break anywhere, within an event too", () =>
    Effect.gen(function* () {
      const log = new Log()
      log.happens(5)
      const breaks = [
        { sends: 2, cut: 0 },
        "nobody answers",
        { sends: 1, cut: 40 },
        { sends: 0, cut: 0 },
        { sends: 0, cut: 120 },
        { sends: 9, cut: 12 }
      ] as const
      const { delivered } = yield* following(log, breaks, "0")
      yield* settle
      for (let round = 0; round < 4; round += 1) {
        log.happens()
        yield* reconnects
      }
      yield* reconnects
      assert.deepStrictEqual(delivered, upTo(9))
      assert.deepStrictEqual(log.asked.slice(0, 5), ["0", "2", "3", "3", "3"])
    })
  )

  it.effect(
    "from now on: what happens after the first connection is delivered, although it broke before any event",
    () =>
      Effect.gen(function* () {
        const log = new Log()
        log.happens(3)
        const { delivered } = yield* following(log, [
          { sends: 0, cut: 0 },
          { sends: 9, cut: 0 }
        ])
        yield* settle
        assert.deepStrictEqual(log.asked, [undefined])
        log.happens(2)
        yield* reconnects
        assert.deepStrictEqual(delivered, ["4", "5"])
        assert.deepStrictEqual(log.asked.slice(0, 2), [undefined, "3"])
      })
  )

  it.effect("gives up with the last error after eight connections in a row that came to nothing", () =>
    Effect.gen(function* () {
      const { fiber } = yield* following(new Log(), ["nobody answers"], "0")
      for (let round = 0; round < 8; round += 1) yield* reconnects
      const exit = yield* Fiber.await(fiber)
      assert.include(JSON.stringify(exit), "TransportError")
    })
  )
})

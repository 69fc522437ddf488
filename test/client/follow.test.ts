/** The plain client follows the log over connections that break: none is missed, none is delivered twice. */
import { afterEach, assert, beforeEach, it, vi } from "vitest"
import { BallastError, connect } from "ballast/client"

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }))
afterEach(() => void vi.useRealTimers())

type Connection = (lastEventId: string | null, signal: AbortSignal) => Response

/** A connection that sends these parts and then breaks, or stays open until the client leaves. */
const sending =
  (parts: ReadonlyArray<string>, ends: "breaks" | "stays"): Connection =>
  (_, signal) => {
    const left = [...parts]
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        const part = left.shift()
        if (part !== undefined) return controller.enqueue(new TextEncoder().encode(part))
        if (ends === "breaks") return controller.error(new Error("reset"))
        return new Promise<void>((resolve) =>
          signal.addEventListener("abort", () => {
            controller.error(signal.reason)
            resolve()
          })
        )
      }
    })
    return new Response(body, { headers: { "content-type": "text/event-stream" } })
  }

const frame = (id: number) => `id: ${id}\ndata: ${JSON.stringify({ eventId: `${id}` })}\n\n`

const following = (...connections: ReadonlyArray<Connection>) => {
  const asked: Array<string | null> = []
  const signals: Array<AbortSignal> = []
  const fetch: typeof globalThis.fetch = async (_, init) => {
    const next = connections[Math.min(asked.length, connections.length - 1)]!
    const last = new Headers(init!.headers).get("last-event-id")
    asked.push(last)
    signals.push(init!.signal!)
    return next(last, init!.signal!)
  }
  return { asked, signals, ballast: connect({ baseUrl: "http://ballast.test", apiKey: "key", fetch }) }
}

/** The next values, while the time of the test passes. */
const take = async (events: AsyncIterator<{ readonly eventId: string }>, count: number) => {
  const ids: Array<string> = []
  while (ids.length < count) {
    const next = events.next()
    await vi.advanceTimersByTimeAsync(60_000)
    const { done, value } = await next
    if (done === true) break
    ids.push(value.eventId)
  }
  return ids
}

it("goes on after the last event over connections that break within an event, in CRLF and in many parts", async () => {
  const third = frame(3)
  const { asked, ballast } = following(
    sending(["retry: 1000\n\n", frame(1), frame(2), third.slice(0, 12)], "breaks"),
    () => new Response("<html>", { status: 502 }),
    () => {
      throw new TypeError("refused")
    },
    sending([...third.replaceAll("\n", "\r\n")], "breaks"),
    sending([": keep-alive\n\n", frame(4)], "stays")
  )
  const events = ballast.events.follow({ after: "0" })[Symbol.asyncIterator]()
  assert.deepStrictEqual(await take(events, 4), ["1", "2", "3", "4"])
  assert.deepStrictEqual(asked, ["0", "2", "2", "2", "3"])
  await events.return!()
})

it("from now on: what happens after the first connection is delivered, although it broke before any event", async () => {
  const greeting = "retry: 1000\n\nid: 3\nretry: 1000\n\n"
  const { asked, ballast } = following(sending([greeting], "breaks"), sending([frame(4)], "stays"))
  const events = ballast.events.follow()[Symbol.asyncIterator]()
  assert.deepStrictEqual(await take(events, 1), ["4"])
  assert.deepStrictEqual(asked, [null, "3"])
  await events.return!()
})

it("opens a connection anew that was silent for 45 seconds, and has no other limit of time", async () => {
  const { asked, ballast } = following(sending([frame(1)], "stays"), sending([frame(2)], "stays"))
  const events = ballast.events.follow({ after: "0" })[Symbol.asyncIterator]()
  assert.deepStrictEqual(await take(events, 2), ["1", "2"])
  assert.deepStrictEqual(asked, ["0", "1"])
  await events.return!()
})

it("leaving closes the connection while it waits for an event", async () => {
  const { ballast, signals } = following(sending([], "stays"))
  const events = ballast.events.follow({ after: "0" })[Symbol.asyncIterator]()
  const next = events.next()
  await vi.advanceTimersByTimeAsync(10)
  await events.return!()
  assert.isTrue((await next).done)
  assert.isTrue(signals[0]!.aborted)
})

it("fails at once when the key is refused, and after eight attempts in a row that came to nothing", async () => {
  const error = { code: "API_102", message: "The API key is unknown" }
  const refused = following(() => Response.json({ success: false, error }, { status: 401 }))
  const [unknown] = await Promise.allSettled([refused.ballast.events.follow()[Symbol.asyncIterator]().next()])
  assert.strictEqual((unknown as PromiseRejectedResult).reason.code, "API_102")
  assert.lengthOf(refused.asked, 1)

  const gone = following(() => {
    throw new TypeError("refused")
  })
  const endless = gone.ballast.events.follow()[Symbol.asyncIterator]()
  const next = endless.next().catch((reason: unknown) => reason)
  await vi.advanceTimersByTimeAsync(600_000)
  const reason = await next
  assert.instanceOf(reason, BallastError)
  assert.strictEqual((reason as BallastError).code, "UNREACHABLE")
  assert.lengthOf(gone.asked, 8)
})

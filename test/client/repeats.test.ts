/** What the plain client sends again, how long it waits, and when it gives up. Time is the test's. */
import { afterEach, assert, beforeEach, describe, it, vi } from "vitest"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { BallastError, connect } from "ballast/client"

const portfolioId = "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8"
const who = { success: true, data: { tenantName: "Northwind" } }
const inProgress = { success: false, error: { code: "API_007", message: "in progress; send it again in 2 seconds" } }

interface Given {
  readonly status: number
  readonly body?: string
  readonly headers?: Record<string, string>
}

/** Answers one after the other, the last one for ever; notes when each request came. */
const answeringWith = (options: { readonly retries?: number }, ...given: ReadonlyArray<Given | Error>) => {
  const at: Array<number> = []
  const fetch: typeof globalThis.fetch = async () => {
    const next = given[Math.min(at.length, given.length - 1)]!
    at.push(performance.now())
    if (next instanceof Error) throw next
    return new Response(next.body ?? "", next)
  }
  return { at, ballast: connect({ baseUrl: "http://ballast.test", apiKey: "key", fetch, ...options }) }
}
const answering = (...given: ReadonlyArray<Given | Error>) => answeringWith({}, ...given)

const answered: Given = { status: 200, body: JSON.stringify(who) }
const html: Given = { status: 502, body: "<html>Bad Gateway" }

/** How a call ended, in the time of the test. */
const outcome = async (call: Promise<unknown>): Promise<BallastError & { readonly tenantName?: string }> => {
  const ended = call.catch((error: unknown) => error)
  await vi.runAllTimersAsync()
  return (await ended) as BallastError
}

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] }))
afterEach(() => void vi.useRealTimers())

describe("a read", () => {
  for (const status of [429, 502, 503, 504])
    for (const body of ["<html>gateway", ""])
      it(`is sent again after a gateway's ${status} with ${body === "" ? "no body" : "a page"}`, async () => {
        const { at, ballast } = answering({ status, body }, { status, body }, answered)
        assert.strictEqual((await outcome(ballast.whoami())).tenantName, "Northwind")
        assert.lengthOf(at, 3)
      })

  it("fails with the status after as many repeats as it was told, as an answer that is none of the API", async () => {
    const { at, ballast } = answeringWith({ retries: 2 }, html)
    const error = await outcome(ballast.whoami())
    assert.instanceOf(error, BallastError)
    assert.deepStrictEqual([error.code, error.status, at.length], ["UNEXPECTED_ANSWER", 502, 3])
  })

  it("waits as long as Retry-After says, in seconds or as a date, and a little by chance", async () => {
    const date = "Fri, 27 Nov 2026 09:00:00 GMT"
    for (const after of ["7", "Fri, 27 Nov 2026 09:00:07 GMT"]) {
      const { at, ballast } = answering({ status: 503, headers: { date, "retry-after": after } }, answered)
      await outcome(ballast.whoami())
      assert.isAtLeast(at[1]! - at[0]!, 6_999)
      assert.isBelow(at[1]! - at[0]!, 7_500)
    }
  })

  it("fails at once where it would have to wait longer than its time", async () => {
    const { at, ballast } = answering({ status: 503, headers: { "retry-after": "60" } })
    assert.strictEqual((await outcome(ballast.whoami())).retryAfterSeconds, 60)
    assert.lengthOf(at, 1)
  })

  it("is not sent again after a fault of the service", async () => {
    const body = JSON.stringify({ success: false, error: { code: "API_600", message: "a fault" } })
    const { at, ballast } = answering({ status: 500, body })
    assert.strictEqual((await outcome(ballast.whoami())).code, "API_600")
    assert.lengthOf(at, 1)
  })
})

describe("a call that creates", () => {
  it("is not sent again after a gateway's 502 or a reset, unless it has an idempotency key", async () => {
    for (const failure of [html, new TypeError("reset")]) {
      const once = answering(failure, answered)
      assert.instanceOf(await outcome(once.ballast.portfolios.start(portfolioId)), BallastError)
      assert.lengthOf(once.at, 1)
      const again = answering(failure, answered)
      assert.strictEqual(
        (await outcome(again.ballast.portfolios.start(portfolioId, { idempotencyKey: "a" }))).tenantName,
        "Northwind"
      )
      assert.lengthOf(again.at, 2)
    }
  })

  it("is sent again after 429, since nothing was done", async () => {
    const { at, ballast } = answering({ status: 429 }, answered)
    assert.strictEqual((await outcome(ballast.portfolios.start(portfolioId))).tenantName, "Northwind")
    assert.lengthOf(at, 2)
  })

  it("waits API_007 out, longer than it repeats, and fails with it when its time is over", async () => {
    const busy = { status: 409, body: JSON.stringify(inProgress), headers: { "retry-after": "2" } }
    const patient = answering(new TypeError("reset"), busy, busy, busy, busy, answered)
    const rebalance = patient.ballast.portfolios.rebalance(portfolioId, { idempotencyKey: "k1" })
    assert.strictEqual((await outcome(rebalance)).tenantName, "Northwind")
    assert.lengthOf(patient.at, 6)
    const endless = answering(busy)
    const error = await outcome(endless.ballast.portfolios.rebalance(portfolioId, { idempotencyKey: "k1" }))
    assert.strictEqual(error.code, "API_007")
    assert.isBelow(endless.at.at(-1)! - endless.at[0]!, 30_000)
  })
})

describe("a service that is started again", () => {
  /** What every draw gives. */
  const drawn = (value: number) =>
    vi.spyOn(crypto, "getRandomValues").mockImplementation((array) => {
      ;(array as unknown as Uint32Array)[0] = value
      return array
    })
  afterEach(() => void vi.restoreAllMocks())

  /** Refuses connections for so long from the first one on. */
  const awayFor = (ms: number) => {
    const at: Array<number> = []
    const fetch: typeof globalThis.fetch = async () => {
      at.push(performance.now())
      const cause = new Error("connect ECONNREFUSED")
      if (performance.now() - at[0]! < ms) throw new TypeError("fetch failed", { cause })
      return new Response(JSON.stringify(who))
    }
    return { at, ballast: connect({ baseUrl: "http://ballast.test", apiKey: "key", fetch }) }
  }

  for (const [name, value] of [
    ["shortest", 2 ** 32 - 1],
    ["longest", 0]
  ] as const)
    it(`within 26 seconds is waited for by what is safe to repeat, with the ${name} pauses of chance`, async () => {
      drawn(value)
      for (const seconds of [1, 5, 10, 20, 26]) {
        const read = awayFor(seconds * 1_000)
        assert.strictEqual((await outcome(read.ballast.whoami())).tenantName, "Northwind", `${seconds} s`)
        const { at, ballast } = awayFor(seconds * 1_000)
        const keyed = ballast.portfolios.start(portfolioId, { idempotencyKey: "a" })
        assert.strictEqual((await outcome(keyed)).tenantName, "Northwind", `${seconds} s`)
        assert.isAtMost(at.length, 20)
      }
    })

  it("later than a call has time fails it as UNREACHABLE with the cause, tried until shortly before", async () => {
    const { at, ballast } = awayFor(30_000)
    const error = await outcome(ballast.whoami())
    assert.strictEqual(error.code, "UNREACHABLE")
    assert.include(error.message, "ECONNREFUSED")
    assert.isAtLeast(at.at(-1)! - at[0]!, 26_000)
    assert.isBelow(at.at(-1)! - at[0]!, 30_000)
  })

  it("fails what may have been done and has no idempotency key at once", async () => {
    const { at, ballast } = awayFor(1_000)
    assert.strictEqual((await outcome(ballast.portfolios.start(portfolioId))).code, "UNREACHABLE")
    assert.lengthOf(at, 1)
  })
})

describe("time", () => {
  /** Accepts and never answers, as `fetch` does it. */
  const hole: typeof globalThis.fetch = (_, init) =>
    new Promise((_resolve, reject) =>
      init!.signal!.addEventListener("abort", () => reject(init!.signal!.reason as Error))
    )

  for (const [seconds, given] of [
    [30, {}],
    [5, { timeoutSeconds: 5 }]
  ] as const)
    it(`a call without an answer fails after ${seconds} seconds${seconds === 30 ? "" : ", as it was told"}`, async () => {
      const begun = performance.now()
      const error = await outcome(
        connect({ baseUrl: "http://ballast.test", apiKey: "k", fetch: hole, ...given }).whoami()
      )
      assert.strictEqual(error.code, "UNREACHABLE")
      assert.include(error.message, `${seconds} seconds`)
      assert.strictEqual(Math.round((performance.now() - begun) / 1_000), seconds)
    })

  it("a call that is aborted fails with the signal's reason", async () => {
    const leaving = new AbortController()
    const ballast = connect({ baseUrl: "http://ballast.test", apiKey: "k", fetch: hole })
    const call = ballast.whoami({ signal: leaving.signal }).catch((error: unknown) => error)
    const reason = new Error("the page was left")
    leaving.abort(reason)
    assert.strictEqual(await call, reason)
  })
})

it("UNREACHABLE names the cause and the address, and not what is in the query", async () => {
  vi.useRealTimers()
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  const ballast = connect({ baseUrl: `http://127.0.0.1:${port}`, apiKey: "key", retries: 0 })
  const error: BallastError = await ballast.portfolios
    .list({ externalId: "private" })
    .page()
    .catch((error) => error)
  assert.strictEqual(error.code, "UNREACHABLE")
  assert.include(error.message, `GET http://127.0.0.1:${port}/v2/portfolios was not answered`)
  assert.include(error.message, `ECONNREFUSED 127.0.0.1:${port}`)
  assert.notInclude(error.message, "private")
})

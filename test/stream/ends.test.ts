/** How sockets end, who is refused, and what a socket may hold: over real HTTP and real sockets. */
import { NodeCrypto } from "@effect/platform-node"
import { afterEach, assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import type { Socket } from "node:net"
import { Backplane } from "#domain/stream/Backplane.ts"
import { InProcessBackplane } from "#layers/stream/InProcessBackplane.ts"
import { assets, openSocket, type Options, startWorker } from "#test/stream/support/startWorker.ts"

const stock = { kind: "asset", assetClass: "equity", symbol: "TSLA" }
const path = "/v1/assets/equity/TSLA/ohlcv/1s"
const started: Array<{ stop: () => Promise<unknown> }> = []
const start = async (options?: Options) => {
  const worker = await startWorker(options)
  started.push(worker)
  return worker
}
afterEach(async () => {
  for (const worker of started.splice(0)) await worker.stop()
})

/** A socket of the share that has begun. */
const open = async (worker: Awaited<ReturnType<typeof start>>, query: Record<string, string> = {}, options = {}) => {
  const { token } = await worker.ticket(stock)
  const socket = openSocket(worker.url, { path: `${path}/ws`, query: { token, ...query } }, { headers: {}, options })
  await socket.until(() => socket.frames.length > 0)
  return socket
}

describe("a socket is closed", () => {
  it("with 1001 when the worker stops", async () => {
    const worker = await startWorker()
    const socket = await open(worker)
    const [end] = await Promise.all([socket.closed(), worker.stop()])
    assert.deepStrictEqual(end, { code: 1001, reason: "the worker stops: resume on another" })
  })

  it("with 1009 for a message of more than 1 KiB", async () => {
    const socket = await open(await start())
    socket.socket.send("x".repeat(1_025))
    assert.strictEqual((await socket.closed()).code, 1009)
  })

  it("with 4400 for a message that is no ping", async () => {
    const socket = await open(await start())
    socket.socket.send("subscribe")
    assert.strictEqual((await socket.closed()).code, 4400)
  })

  it("with 4429 for more than 30 messages between two heartbeats", async () => {
    const socket = await open(await start())
    for (let sent = 0; sent < 31; sent += 1) socket.socket.send('{"type":"ping"}')
    assert.strictEqual((await socket.closed()).code, 4429)
    assert.lengthOf(
      socket.frames.filter(({ type }) => type === "pong"),
      30
    )
  })

  it("without a code when the client did not answer the ping before", async () => {
    const socket = await open(await start({ heartbeatMs: 100 }), {}, { autoPong: false })
    assert.strictEqual((await socket.closed()).code, 1006)
  })

  it("with 4408 when a client of bars fell behind the window; it resumes with a gap and a snapshot, and the worker never held more than a budget for it", async () => {
    const accepted = new Map<number, Socket>()
    const onSocket = (message: unknown) => {
      const { socket } = message as { socket: Socket }
      accepted.set(socket.remotePort ?? 0, socket)
    }
    subscribe("net.server.socket", onSocket)
    const worker = await start()
    const slow = await open(worker)
    const quick = await open(worker)
    const connection = accepted.get((slow.socket as unknown as { _socket: Socket })._socket.localPort!)!
    unsubscribe("net.server.socket", onSocket)
    slow.socket.pause()
    const begin = Date.now() - 1_000_000
    let count = 0
    let maxPending = 0
    // Far more than the kernel takes for a client that does not read, then more than the window has.
    for (let after = 0; after < 300; count += 1) {
      worker.massive.bar("TSLA", begin + count)
      if (count % 50 !== 49) continue
      await quick.until(() => quick.events().length > count)
      maxPending = Math.max(maxPending, connection.writableLength)
      if (connection.writableLength > 65_536) after += 50
      assert.isBelow(count, 500_000, "the client never fell behind")
    }
    assert.isBelow(maxPending, 65_536 + 50 * 400, "a budget and a batch")
    assert.strictEqual(quick.events().length, count)
    slow.socket.resume()
    assert.deepInclude(await slow.closed(), { code: 4408 })
    const last = slow.events().at(-1).sequence
    assert.deepStrictEqual(
      slow.events().map(({ data }) => data.startMs),
      Array.from({ length: slow.events().length }, (_, index) => begin + index),
      "what it got is whole"
    )
    const resumed = await open(worker, { afterSequence: `${last}` })
    await resumed.until(() => resumed.frames.length >= 2)
    assert.deepInclude(resumed.frames[0], { type: "gap", afterSequence: last, reason: "window" })
    assert.deepInclude(resumed.frames[1], { type: "snapshot", sequence: quick.events().at(-1).sequence })
  })
})

describe("refusals", () => {
  it("of internal routes: without the internal token, and with a wrong one", async () => {
    const worker = await start()
    const routes = [
      ["POST", "/internal/public-registry/assets/upsert"],
      ["GET", "/internal/public-registry/assets"],
      ["GET", "/internal/status"],
      ["POST", "/internal/providers/connect"],
      ["POST", "/internal/providers/disconnect"]
    ] as const
    for (const [method, route] of routes) {
      for (const headers of [{}, { "x-market-data-stream-internal-token": "wrong" }] as Array<Record<string, string>>) {
        const { body, status } = await worker.call(route, {
          method,
          headers,
          ...(method === "POST" ? { body: "{}" } : {})
        })
        assert.deepStrictEqual([status, body.error], [401, "internal_token_invalid"], route)
      }
    }
  })

  it("of the operator: a provider without a key, more assets than the registry holds, bodies that make no sense", async () => {
    const worker = await start({ providers: ["coingecko"], settings: { maxAssets: assets.length } })
    const refused = async (route: string, body: unknown) => {
      const answer = await worker.internal(route, body)
      return [answer.status, answer.body.error]
    }
    for (const verb of ["connect", "disconnect"]) {
      assert.deepStrictEqual(await refused(`/internal/providers/${verb}`, { provider: "massive" }), [
        409,
        "provider_not_configured"
      ])
      assert.deepStrictEqual(await refused(`/internal/providers/${verb}`, { provider: "bloomberg" }), [
        400,
        "invalid_request"
      ])
    }
    const upsert = "/internal/public-registry/assets/upsert"
    const another = { assetClass: "equity", provider: "massive", symbol: "NEW" }
    assert.deepStrictEqual(await refused(upsert, { assets: [another] }), [409, "registry_full"])
    assert.deepStrictEqual(await refused(upsert, { assets: [{ ...another, provider: "coingecko" }] }), [
      400,
      "invalid_request"
    ])
    assert.deepStrictEqual(
      await refused(upsert, { assets: [{ assetClass: "crypto", provider: "coingecko", symbol: "SOL" }] }),
      [400, "invalid_request"]
    )
    const { body } = await worker.internalGet("/internal/public-registry/assets")
    assert.deepStrictEqual(body.assets, assets)
  })

  it("of a full worker, with the seconds after which to try again", async () => {
    const worker = await start({ settings: { maxSockets: 1 } })
    await open(worker)
    const { token } = await worker.ticket(stock)
    const second = openSocket(worker.url, { path: `${path}/ws`, query: { token } })
    const { body, headers, status } = await second.refused()
    assert.deepStrictEqual([status, body.error, headers["retry-after"]], [503, "too_many_sockets", "5"])
  })

  it("of a worker that is cut off from the others; sockets that are open stay open", async () => {
    let isReachable = true
    const backplane = Layer.effect(
      Backplane,
      Effect.map(Backplane, (whole) => Backplane.of({ ...whole, isReachable: Effect.sync(() => isReachable) }))
    ).pipe(Layer.provide(InProcessBackplane), Layer.provide(NodeCrypto.layer))
    const worker = await start({ backplane })
    const before = await open(worker)
    isReachable = false
    const { token } = await worker.ticket(stock)
    const { body, headers, status } = await openSocket(worker.url, { path: `${path}/ws`, query: { token } }).refused()
    assert.deepStrictEqual([status, body.error, headers["retry-after"]], [503, "not_ready", "1"])
    assert.strictEqual((await worker.call(`${path}/snapshot?token=${token}`)).body.error, "not_ready")
    assert.strictEqual((await worker.call("/health/ready")).status, 503)
    assert.strictEqual((await worker.call("/health/live")).status, 200)
    worker.massive.bar("TSLA", Date.now() - 5_000)
    await before.until(() => before.events().length === 1)
  })

  it("of paths that no topic has, by HTTP and at the handshake", async () => {
    const worker = await start()
    const { token } = await worker.ticket(stock)
    for (const wrong of ["/v1/assets/equity/TSLA/ohlcv/1m", "/v1/collections/bonds/default", "/v1/nothing"]) {
      const { body, status } = await openSocket(worker.url, { path: `${wrong}/ws`, query: { token } }).refused()
      assert.deepStrictEqual([status, body.error], [404, "topic_not_found"], wrong)
    }
    assert.strictEqual((await worker.call("/v1/nothing")).body.error, "topic_not_found")
  })
})

it("a page of an allowed origin may read the answers of tickets and snapshots; another may not", async () => {
  const worker = await start()
  const allowed = async (origin: string) => {
    const { headers } = await worker.post("/v1/tickets", stock, { origin })
    return headers.get("access-control-allow-origin")
  }
  assert.strictEqual(await allowed("https://app.example"), "https://app.example")
  assert.notStrictEqual(await allowed("https://evil.example"), "https://evil.example")
})

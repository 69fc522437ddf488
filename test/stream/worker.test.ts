/** The worker over real HTTP and real sockets, with a scripted market. */
import { assert, describe, it, afterEach } from "@effect/vitest"
import { Result } from "effect"
import { openSocket, type Options, secretOf, startWorker } from "#test/stream/support/startWorker.ts"

const stock = { kind: "asset", assetClass: "equity", symbol: "TSLA" }
const stockPath = "/v1/assets/equity/TSLA/ohlcv/1s"
const coinPath = "/v1/assets/crypto/ETH/quote/tick"
const started: Array<{ stop: () => Promise<unknown> }> = []
const start = async (options?: Options) => {
  const worker = await startWorker(options)
  started.push(worker)
  return worker
}
afterEach(async () => {
  for (const worker of started.splice(0)) await worker.stop()
})
const now = () => Date.now()

describe("tickets", () => {
  it("open the topic of an asset, of both classes, and of collections for the given symbols", async () => {
    const worker = await start()
    const answer = await worker.post("/v1/tickets", { ...stock, symbol: "tsla" })
    assert.strictEqual(answer.status, 200)
    assert.deepInclude(answer.body, {
      baseUrl: worker.url,
      expiresInSeconds: 300,
      topics: ["asset:equity:TSLA:ohlcv:1s"]
    })
    const topicsOf = async (target: unknown) => (await worker.ticket(target)).topics
    assert.deepStrictEqual(await topicsOf({ kind: "asset", assetClass: "crypto", symbol: "ETH" }), [
      "asset:crypto:ETH:quote:tick"
    ])
    assert.deepStrictEqual(await topicsOf({ ...stock, collectionFeeds: true }), [
      "asset:equity:TSLA:ohlcv:1s",
      "collection:stocks:default",
      "collection:watchlist:default"
    ])
    const collection = { kind: "collection", assetClass: "equity", collection: "watchlist", symbols: ["AAPL", "TSLA"] }
    assert.deepStrictEqual(await topicsOf(collection), ["collection:watchlist:default"])
  })

  it("are refused for assets that are not public, for targets that make no sense, and before the registry is filled", async () => {
    const worker = await start()
    const refused = async (target: unknown) => {
      const { body, status } = await worker.post("/v1/tickets", target)
      return [status, body.error]
    }
    assert.deepStrictEqual(await refused({ ...stock, symbol: "NOPE" }), [403, "public_asset_not_allowed"])
    assert.deepStrictEqual(await refused({ ...stock, assetClass: "bond" }), [400, "invalid_request"])
    assert.deepStrictEqual(
      await refused({ kind: "collection", assetClass: "equity", collection: "crypto", symbols: ["TSLA"] }),
      [400, "invalid_request"]
    )
    assert.deepStrictEqual(
      await refused({ kind: "collection", assetClass: "equity", collection: "stocks", symbols: [] }),
      [400, "invalid_request"]
    )
    const empty = await start({ registers: false })
    const { body, headers, status } = await empty.post("/v1/tickets", stock)
    assert.deepStrictEqual([status, body.error, headers.get("retry-after")], [503, "registry_empty", "2"])
  })

  it("are limited by address; X-Forwarded-For counts from configured proxies only", async () => {
    const limited = await start({ settings: { ticketsPerMinute: 2 } })
    const ask = async (worker: typeof limited, client: string) =>
      (await worker.post("/v1/tickets", stock, { "x-forwarded-for": client })).status
    assert.deepStrictEqual(
      [await ask(limited, "9.9.9.1"), await ask(limited, "9.9.9.2"), await ask(limited, "9.9.9.3")],
      [200, 200, 429]
    )
    const proxied = await start({ settings: { ticketsPerMinute: 1 }, proxies: ["127.0.0.0/8"] })
    assert.deepStrictEqual(
      [
        await ask(proxied, "9.9.9.1"),
        await ask(proxied, "9.9.9.2"),
        await ask(proxied, "9.9.9.2"),
        await ask(proxied, "1.1.1.1, 9.9.9.2")
      ],
      [200, 200, 429, 429]
    )
    const { body, headers } = await proxied.post("/v1/tickets", stock, { "x-forwarded-for": "9.9.9.2" })
    assert.strictEqual(body.error, "rate_limited")
    assert.match(headers.get("retry-after") ?? "", /^[0-9]+$/)
  })

  it("open nothing else, are refused when changed, expired or signed by a key that is gone, and live through a rotation", async () => {
    const worker = await start({ keys: [secretOf("old")] })
    const { token } = await worker.ticket(stock)
    const snapshot = async (of: typeof worker, path: string, given: string) => {
      const { body, status } = await of.call(`${path}/snapshot?token=${given}`)
      return [status, body.error]
    }
    assert.deepStrictEqual(await snapshot(worker, stockPath, token), [200, undefined])
    assert.deepStrictEqual(await snapshot(worker, stockPath, ""), [401, "token_missing"])
    assert.deepStrictEqual(await snapshot(worker, coinPath, token), [403, "topic_not_allowed"])
    assert.deepStrictEqual(await snapshot(worker, "/v1/assets/equity/TSLA/quote/tick", token), [404, "topic_not_found"])
    const [id, claims = "", tag] = token.split(".")
    const other = Buffer.from(Buffer.from(claims, "base64url").toString().replaceAll("TSLA", "AAPL")).toString(
      "base64url"
    )
    assert.deepStrictEqual(await snapshot(worker, "/v1/assets/equity/AAPL/ohlcv/1s", `${id}.${other}.${tag}`), [
      401,
      "token_invalid"
    ])
    const rotated = await start({ keys: [secretOf("new"), secretOf("old")] })
    assert.deepStrictEqual(await snapshot(rotated, stockPath, token), [200, undefined])
    const gone = await start({ keys: [secretOf("new")] })
    assert.deepStrictEqual(await snapshot(gone, stockPath, token), [401, "token_invalid"])
    const brief = await start({ settings: { ticketLifeSeconds: 0 } })
    const expired = await brief.ticket(stock)
    assert.deepStrictEqual(await snapshot(brief, stockPath, expired.token), [401, "token_expired"])
  })
})

describe("sockets", () => {
  it("begin with a snapshot, go on live, and resume after a sequence without loss or repeat", async () => {
    const worker = await start()
    const { token } = await worker.ticket(stock)
    const first = openSocket(worker.url, { path: `${stockPath}/ws`, query: { token } })
    await first.until(() => first.frames.length > 0)
    const [snapshot] = first.frames
    assert.deepInclude(snapshot, { v: 1, type: "snapshot", topic: "asset:equity:TSLA:ohlcv:1s", items: [] })
    const begin = now() - 60_000
    for (let index = 0; index < 5; index += 1) worker.massive.bar("TSLA", begin + index * 1000, 10 + index)
    await first.until(() => first.events().length === 5)
    const second = first.events()[1]
    assert.deepStrictEqual(second.data, {
      kind: "ohlcv",
      open: "11",
      high: "11",
      low: "11",
      close: "11",
      volume: "1",
      vwap: null,
      startMs: begin + 1000,
      endMs: begin + 2000
    })
    assert.strictEqual(second.previous, first.events()[0].sequence)
    first.socket.close()
    await first.closed()
    const resumed = openSocket(worker.url, {
      path: `${stockPath}/ws`,
      query: { token, afterSequence: `${second.sequence}` }
    })
    await resumed.until(() => resumed.events().length === 3)
    worker.massive.bar("TSLA", begin + 9_000)
    await resumed.until(() => resumed.events().length === 4)
    assert.deepStrictEqual(
      resumed.frames.slice(0, 3).map(({ type, sequence }) => [type, sequence]),
      first
        .events()
        .slice(2)
        .map(({ sequence }) => ["event", sequence])
    )
    const late = openSocket(worker.url, { path: `${stockPath}/ws`, query: { token, afterSequence: "1" } })
    await late.until(() => late.frames.length >= 2)
    assert.deepStrictEqual(
      late.frames.slice(0, 2).map(({ type }) => type),
      ["gap", "snapshot"]
    )
    assert.strictEqual(late.frames[1].items[0].data.startMs, begin + 9_000)
  })

  it("contain a collection's events of the ticket's symbols alone", async () => {
    const worker = await start()
    const { token } = await worker.ticket({
      kind: "collection",
      assetClass: "crypto",
      collection: "crypto",
      symbols: ["ETH"]
    })
    const socket = openSocket(worker.url, { path: "/v1/collections/crypto/default/ws", query: { token } })
    await socket.until(() => socket.frames.length > 0)
    worker.coingecko.quote("BTC", now() - 5_000)
    worker.coingecko.quote("ETH", now() - 4_000)
    await socket.until(() => socket.events().length > 0)
    assert.deepInclude(socket.events()[0], { topic: "collection:crypto:default", symbol: "ETH" })
    const { body } = await worker.call(`/v1/collections/crypto/default/snapshot?token=${token}`)
    assert.deepStrictEqual(
      body.items.map(({ symbol }: { symbol: string }) => symbol),
      ["ETH"]
    )
  })

  it("refuse foreign origins and bad tokens before the upgrade, with a status and a code", async () => {
    const worker = await start()
    const { token } = await worker.ticket(stock)
    const foreign = openSocket(
      worker.url,
      { path: `${stockPath}/ws`, query: { token } },
      { headers: { origin: "https://evil.example" } }
    )
    assert.deepInclude(await foreign.refused(), { status: 403 })
    const own = openSocket(
      worker.url,
      { path: `${stockPath}/ws`, query: { token } },
      { headers: { origin: "https://app.example" } }
    )
    await own.until(() => own.frames.length > 0)
    const bad = openSocket(worker.url, { path: `${stockPath}/ws`, query: { token: `${token}x` } })
    assert.strictEqual((await bad.refused()).body.error, "token_invalid")
    const odd = openSocket(worker.url, { path: `${stockPath}/ws`, query: { token, afterSequence: "-1" } })
    assert.strictEqual((await odd.refused()).body.error, "invalid_request")
  })

  it("answer pings and health checks", async () => {
    // Long enough for a slow machine to answer the ping before, or the worker would cut it.
    const worker = await start({ heartbeatMs: 2_000 })
    const { token } = await worker.ticket(stock)
    const socket = openSocket(worker.url, { path: `${stockPath}/ws`, query: { token } })
    await socket.until(() => socket.frames.some(({ type }) => type === "heartbeat"))
    socket.socket.send('{"type":"ping"}')
    await socket.until(() => socket.frames.some(({ type }) => type === "pong"))
  })

  it("are limited in number, of one address and in all", async () => {
    const worker = await start({ settings: { maxSocketsPerAddress: 1 } })
    const { token } = await worker.ticket(stock)
    const first = openSocket(worker.url, { path: `${stockPath}/ws`, query: { token } })
    await first.until(() => first.frames.length > 0)
    const second = openSocket(worker.url, { path: `${stockPath}/ws`, query: { token } })
    assert.deepInclude(await second.refused(), { status: 429 })
    first.socket.close()
    await first.closed()
  })

  it("of a client of quotes that does not read go on with the latest, and neither slow nor hurt anybody else", async () => {
    const worker = await start()
    const { token } = await worker.ticket({ kind: "asset", assetClass: "crypto", symbol: "ETH" })
    const slow = openSocket(worker.url, { path: `${coinPath}/ws`, query: { token } })
    const quick = openSocket(worker.url, { path: `${coinPath}/ws`, query: { token } })
    await slow.until(() => slow.frames.length > 0)
    await quick.until(() => quick.frames.length > 0)
    slow.socket.pause()
    // Far more than the kernel takes for a client that does not read.
    const count = 80_000
    const begin = now() - 1_000_000
    for (let index = 0; index < count; index += 1) {
      worker.coingecko.quote("ETH", begin + index)
      if (index % 100 === 99) await quick.until(() => quick.events().length > index)
    }
    assert.strictEqual(quick.frames.filter(({ type }) => type === "skipped").length, 0)
    assert.deepStrictEqual(
      quick.events().map(({ data }) => data.asOfMs),
      Array.from({ length: count }, (_, index) => begin + index)
    )
    slow.socket.resume()
    await slow.until(() => slow.events().at(-1)?.data.asOfMs === begin + count - 1)
    const skip = slow.frames.find(({ type }) => type === "skipped")
    const at = slow.frames.indexOf(skip)
    assert.strictEqual(slow.frames[at - 1].sequence, skip.afterSequence)
    assert.strictEqual(slow.frames[at + 1].sequence, skip.sequence)
    assert.isBelow(slow.events().length, count)
  })
})

describe("the market", () => {
  it("drops bad ticks and counts them by reason", async () => {
    const worker = await start()
    const { token } = await worker.ticket(stock)
    const socket = openSocket(worker.url, { path: `${stockPath}/ws`, query: { token } })
    await socket.until(() => socket.frames.length > 0)
    const at = now() - 10_000
    worker.massive.bar("TSLA", at)
    worker.massive.bar("TSLA", at)
    worker.massive.bar("TSLA", at - 1_000)
    worker.massive.bar("TSLA", at + 1_000, -1)
    worker.massive.bar("TSLA", at + 2_000, Number.NaN)
    worker.massive.bar("TSLA", now() + 60_000)
    worker.massive.send([Result.fail("malformed")])
    worker.massive.bar("TSLA", at + 3_000)
    await socket.until(() => socket.events().length === 2)
    const { body } = await worker.internalGet("/internal/status")
    const massive = body.providers.find(({ provider }: { provider: string }) => provider === "massive")
    assert.deepStrictEqual(massive.dropped, {
      duplicate: 1,
      out_of_order: 1,
      negative: 1,
      not_finite: 1,
      future: 1,
      malformed: 1
    })
    assert.strictEqual(massive.status, "connected")
    const [topic] = body.topics
    assert.deepInclude(topic, { topic: "asset:equity:TSLA:ohlcv:1s", clientCount: 1 })
    assert.strictEqual(topic.replayWindow.toSequence, socket.events()[1].sequence)
  })

  it("is fetched only where somebody follows it", async () => {
    const worker = await start()
    const { Effect } = await import("effect")
    const symbols = async () => (await Effect.runPromise(worker.massive.wanted)).map(({ symbol }) => symbol)
    assert.deepStrictEqual(await symbols(), [])
    await worker.ticket(stock)
    while ((await symbols()).length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    assert.deepStrictEqual(await symbols(), ["TSLA"])
  })

  it("is cut and connected by operators; a polled provider has nothing to cut, and says so", async () => {
    const worker = await start()
    const cut = await worker.internal("/internal/providers/disconnect", { provider: "massive" })
    assert.deepStrictEqual(cut.body, { provider: "massive", status: "disconnected", noop: false })
    while (worker.massive.isRunning) await new Promise((resolve) => setTimeout(resolve, 10))
    await worker.internal("/internal/providers/connect", { provider: "massive" })
    while (!worker.massive.isRunning) await new Promise((resolve) => setTimeout(resolve, 10))
    const polled = await worker.internal("/internal/providers/disconnect", { provider: "coingecko" })
    assert.strictEqual(polled.body.noop, true)
    assert.match(polled.body.reason, /polled/)
    const { status } = await worker.post("/internal/providers/connect", { provider: "massive" })
    assert.strictEqual(status, 401)
  })
})

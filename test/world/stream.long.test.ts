/**
 * The market-data stream of a world, as a user of `ballast/stream` sees it: real worker, stand-ins of both providers.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { iterate, type StreamFrame, type TicketTarget } from "#client/stream.ts"
import { startWorld, type World, worldFolder } from "#test/support/World.ts"

let world: World
let folder: Awaited<ReturnType<typeof worldFolder>>
let baseUrl: string

beforeAll(async () => {
  folder = await worldFolder()
  world = await startWorld(folder.dataDir)
  baseUrl = (world.overview as unknown as { streamBaseUrl: string }).streamBaseUrl
  const isKnown = async () => {
    const answer = await fetch(`${baseUrl}/v1/tickets`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ kind: "asset", assetClass: "equity", symbol: "TSLA" })
    })
    await answer.body?.cancel()
    return answer.status === 200
  }
  while (!(await isKnown())) await new Promise((resolve) => setTimeout(resolve, 200))
})

afterAll(async () => {
  await world?.stop()
  await folder?.remove()
})

/** Follows a target and keeps what comes. */
const follow = (target: TicketTarget) => {
  const frames: Array<StreamFrame> = []
  const waiting = new Set<() => void>()
  const frameIterator = iterate({ baseUrl }, target)[Symbol.asyncIterator]()
  const reading = (async () => {
    for (let next = await frameIterator.next(); next.done !== true; next = await frameIterator.next()) {
      frames.push(next.value)
      waiting.forEach((check) => check())
    }
  })()
  return {
    frames,
    until: (isThere: (frames: ReadonlyArray<StreamFrame>) => boolean) =>
      new Promise<void>((resolve) => {
        const check = () => {
          if (!isThere(frames)) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
      }),
    stop: async () => {
      await frameIterator.return?.()
      await reading
    }
  }
}

/** Nothing twice, nothing out of order, and each event follows the one before it unless a gap was said. */
const assertWhole = (frames: ReadonlyArray<StreamFrame>) => {
  let last = 0
  const lastOf = new Map<string, number>()
  for (const frame of frames) {
    if (frame.type === "gap") lastOf.clear()
    if (frame.type === "snapshot") {
      assert.isAtLeast(frame.sequence, last)
      last = frame.sequence
      lastOf.clear()
      for (const { sequence, symbol } of frame.items) lastOf.set(symbol, sequence)
    }
    if (frame.type !== "event") continue
    assert.isAbove(frame.sequence, last)
    const before = lastOf.get(frame.symbol)
    if (before !== undefined) assert.strictEqual(frame.previous, before)
    last = frame.sequence
    lastOf.set(frame.symbol, frame.sequence)
  }
}

const eventsOf = (frames: ReadonlyArray<StreamFrame>) => frames.filter(({ type }) => type === "event")
const adminHeaders = () => ({ authorization: `Bearer ${world.overview.adminToken}` })
const procedure = (name: string, json?: unknown, headers: Record<string, string> = adminHeaders()) =>
  world.apiWith(headers)("POST", `/v1/rpc/marketDataStream.${name}`, json === undefined ? {} : { json })

describe("the market-data stream", () => {
  it("streams both asset classes and a collection through kill -9 of the worker, without loss or repeat but what a gap reports", async () => {
    const stock = follow({ kind: "asset", assetClass: "equity", symbol: "TSLA" })
    const coin = follow({ kind: "asset", assetClass: "crypto", symbol: "ETH" })
    const stocks = follow({
      kind: "collection",
      assetClass: "equity",
      collection: "stocks",
      symbols: ["AAPL", "MSFT", "NVDA"]
    })
    const all = [stock, coin, stocks]
    await Promise.all(all.map((one) => one.until((frames) => eventsOf(frames).length >= 3)))
    const { status } = await world.control("/faults", { target: "stream", mode: "kill" })
    assert.strictEqual(status, 200)
    await Promise.all(
      all.map((one) =>
        one.until((frames) => {
          const gap = frames.findIndex(({ type }) => type === "gap")
          return gap > 0 && eventsOf(frames.slice(gap)).length >= 3
        })
      )
    )
    for (const one of all) {
      assertWhole(one.frames)
      await one.stop()
    }
  })

  it("follows the world's prices", async () => {
    const coin = follow({ kind: "asset", assetClass: "crypto", symbol: "ETH" })
    await coin.until((frames) => eventsOf(frames).length >= 1)
    await world.control("/prices", { assetId: world.asset(8453, "WETH").assetId, priceUsd: "3456.78" })
    await coin.until((frames) =>
      frames.some((frame) => frame.type === "event" && frame.data.kind === "quote" && frame.data.priceUsd === "3456.78")
    )
    await coin.stop()
  })

  it("goes on after the provider of shares was cut, and shows operators its status", async () => {
    const stock = follow({ kind: "asset", assetClass: "equity", symbol: "TSLA" })
    await stock.until((frames) => eventsOf(frames).length >= 2)
    await world.control("/faults", { target: "massive", mode: "down" })
    const massive = async () => {
      const { body } = await procedure("adminStatus")
      return body.result.data.json.providers.find(({ provider }: { provider: string }) => provider === "massive")
    }
    while ((await massive()).reconnect.attempt === 0) await new Promise((resolve) => setTimeout(resolve, 200))
    const before = eventsOf(stock.frames).length
    await world.control("/faults", { target: "massive", mode: "ok" })
    await stock.until((frames) => eventsOf(frames).length >= before + 2)
    const healthy = await massive()
    assert.deepInclude(healthy, { status: "connected", reconnect: { attempt: 0, nextAttemptAt: null } })
    assert.isAtLeast(healthy.subscriptionCount, 1)
    assertWhole(stock.frames)
    await stock.stop()
  })

  it("obeys the operator's procedures, with the admin token alone", async () => {
    assert.strictEqual((await procedure("adminStatus", undefined, {})).status, 401)
    const wrong = await procedure("adminStatus", undefined, { authorization: "Bearer nonsense" })
    assert.deepStrictEqual([wrong.status, wrong.body.error.json.code], [401, "API_102"])
    const cut = await procedure("adminDisconnectProvider", { provider: "massive" })
    assert.deepStrictEqual(cut.body.result.data.json, { provider: "massive", status: "disconnected", noop: false })
    const connected = await procedure("adminConnectProvider", { provider: "massive" })
    assert.strictEqual(connected.status, 200)
    const polled = await procedure("adminDisconnectProvider", { provider: "coingecko" })
    assert.strictEqual(polled.body.result.data.json.noop, true)
    const odd = await procedure("adminConnectProvider", { provider: "bloomberg" })
    assert.deepStrictEqual([odd.status, odd.body.error.json.code], [400, "API_400"])
    assert.isTrue(odd.body.error.json.details[0].startsWith("provider:"))
  })
})

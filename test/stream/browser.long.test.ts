/** The client as a page has it: bundled, without anything of Node, and in a real browser where there is one. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { builtinModules } from "node:module"
import { createContext, runInContext } from "node:vm"
import { type Bundle, bundleForBrowsers } from "#test/support/browserBundle.ts"
import { globalsOfPages, hasBrowser, inBrowser, openSite } from "#test/support/browser.ts"
import { startProxy } from "#test/stream/support/cuttableProxy.ts"
import { startWorker } from "#test/stream/support/startWorker.ts"

let bundle: Bundle
beforeAll(async () => {
  bundle = await bundleForBrowsers("client/stream.ts")
})

/** What the page does: hands on each frame of a share, or why it ended. Needs `Ballast` and `report`. */
const script = (baseUrl: string) => `(async () => {
  const target = { kind: "asset", assetClass: "equity", symbol: "TSLA" }
  try {
    for await (const frame of Ballast.iterate({ baseUrl: ${JSON.stringify(baseUrl)} }, target)) await report(frame)
  } catch (error) {
    await report({ type: "failed", message: String(error && error.stack || error) })
  }
})()`

/** Frames as a page reports them, and waits for them. */
const makeReports = () => {
  const frames: Array<any> = []
  const waiting = new Set<() => void>()
  return {
    frames,
    take: (frame: unknown) => {
      frames.push(frame)
      waiting.forEach((check) => check())
    },
    until: (isThere: (types: ReadonlyArray<string>) => boolean) =>
      new Promise<void>((resolve, reject) => {
        const check = () => {
          const failed = frames.find(({ type }) => type === "failed")
          if (failed !== undefined) return reject(new Error(failed.message))
          if (!isThere(frames.map(({ type }) => type))) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
      })
  }
}

const eventCount = (types: ReadonlyArray<string>) => types.filter((type) => type === "event").length

/** Follows a share through a cut connection, in the page that `open` makes; ends when every bar has come once. */
const follow = async (
  origin: string | undefined,
  reports: ReturnType<typeof makeReports>,
  open: (script: string) => Promise<void>
) => {
  let port = 0
  const proxy = await startProxy(() => port)
  const worker = await startWorker({
    settings: { publicUrl: proxy.url, allowedOrigins: origin === undefined ? [] : [origin] }
  })
  port = Number(new URL(worker.url).port)
  const begin = Date.now() - 60_000
  let sent = 0
  const sendBars = (count: number) => {
    for (const end = sent + count; sent < end; sent += 1) worker.massive.bar("TSLA", begin + sent * 1_000)
  }
  try {
    await open(script(proxy.url))
    await reports.until((types) => types.includes("snapshot"))
    sendBars(5)
    await reports.until((types) => eventCount(types) === 5)
    proxy.cut()
    sendBars(5)
    await reports.until((types) => eventCount(types) === 10)
    sendBars(1)
    await reports.until((types) => eventCount(types) === 11)
    assert.deepStrictEqual(
      reports.frames.map(({ data, type }) => [type, data?.startMs]),
      [["snapshot", undefined], ...Array.from({ length: 11 }, (_, index) => ["event", begin + index * 1_000])]
    )
  } finally {
    await proxy.stop()
    await worker.stop()
  }
}

describe("the client in a browser", () => {
  it("bundles for browsers without a module of Node, and without a warning", () => {
    const ofNode = new Set(builtinModules)
    const isNodes = (name: string) => name.startsWith("node:") || ofNode.has(name)
    assert.deepStrictEqual(bundle.external, [])
    assert.deepStrictEqual(bundle.modules.filter(isNodes), [])
    assert.deepStrictEqual(bundle.warnings, [])
    assert.notMatch(bundle.code, /\b(?:import|from|require)\s*\(?\s*["'`]/u)
    assert.isTrue(bundle.modules.every((path) => !/node_modules\/(?!effect\/)/u.test(path)))
  })

  it("follows a share through a cut connection with nothing but what pages have: no process, Buffer or require", async () => {
    const reports = makeReports()
    const page = createContext({
      ...globalsOfPages,
      report: (frame: unknown) => Promise.resolve(reports.take(JSON.parse(JSON.stringify(frame))))
    })
    await follow(undefined, reports, async (script) => {
      runInContext(bundle.code, page)
      assert.strictEqual(runInContext("typeof process + typeof Buffer + typeof require", page), "undefined".repeat(3))
      runInContext(script, page)
    })
  })

  it.skipIf(!hasBrowser)(`follows a share through a cut connection ${inBrowser}`, async () => {
    const reports = makeReports()
    const site = await openSite(reports.take)
    try {
      await follow(site.origin, reports, (script) => site.open(bundle.code, script))
    } finally {
      await site.close()
    }
  })
})

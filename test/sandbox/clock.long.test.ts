/** The sandbox's clock: who follows it, and for whom a move of it waits. */
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it, onTestFinished } from "vitest"
import { newInstance, startWorld, type TestWorld } from "#test/sandbox/startWorld.ts"
import { destroy, type Refusal } from "#test/sandbox/worldCalls.ts"

interface Reading {
  readonly now: number
  readonly version: number
}

let world: TestWorld

beforeAll(async () => {
  world = await startWorld(await newInstance(mkdtempSync(join(tmpdir(), "ballast-world-"))))
  assert.include(world.output(), "is ready")
})

afterAll(() => destroy(world))

/** How long a move of the clock waits for a follower that says nothing. */
const silenceMillis = 20_000

describe("clock", () => {
  /** A follower of the clock for one test; when that is over, its connection breaks. */
  const startFollower = (id: string) => {
    const ended = new AbortController()
    onTestFinished(() => ended.abort())
    const poll = async (after: number): Promise<Reading> => {
      const url = `http://127.0.0.1:${world.instance.control}/clock?after=${after}&id=${id}`
      return (await fetch(url, { signal: ended.signal })).json() as Promise<Reading>
    }
    return {
      poll,
      /** Polls for what a test does not wait for. */
      stay: (after: number) => void poll(after).catch(() => undefined),
      end: () => ended.abort()
    }
  }
  const present = async () => (await world.get<Reading>("/clock")).body

  it("wakes its followers on a move, and the chains are in the new time by then", async () => {
    const before = await present()
    const follower = startFollower("prompt")
    const polled = follower.poll(before.version)
    await wait(100)
    const moving = world.post<Reading>("/clock/advance", { ms: 86_400_000 })
    const woken = await polled
    assert.isAtLeast(woken.now - before.now, 86_400_000)
    assert.isAbove(woken.version, before.version)
    const call = { jsonrpc: "2.0", id: 1, method: "eth_getBlockByNumber", params: ["latest", false] }
    const { body } = await world.post<{ readonly result: { readonly timestamp: string } }>("/rpc/8453", call)
    assert.isAtLeast(Number(body.result.timestamp), Math.floor((before.now + 86_400_000) / 1000))
    // The move is answered once the follower is back with the new version.
    follower.stay(woken.version)
    const { body: moved } = await moving
    assert.isAtLeast(moved.now, woken.now)
  })

  it("answers a move once a follower that is slow to come back has taken it up", async () => {
    const follower = startFollower("slow")
    const polled = follower.poll((await present()).version)
    await wait(100)
    let isAnswered = false
    const moving = world.post("/clock/advance", { ms: 1_000 }).then(() => (isAnswered = true))
    const { version } = await polled
    await wait(5_000)
    assert.isFalse(isAnswered)
    follower.stay(version)
    assert.isTrue(await moving)
  })

  it("does not wait for a follower whose process has ended", async () => {
    const follower = startFollower("ended")
    follower.stay((await present()).version)
    await wait(500)
    follower.end()
    await wait(500)
    const started = performance.now()
    assert.strictEqual((await world.post("/clock/advance", { ms: 1_000 })).status, 200)
    assert.isBelow(performance.now() - started, silenceMillis)
  })

  it("does not wait for ever for a follower that says nothing", async () => {
    startFollower("silent").stay((await present()).version)
    await wait(100)
    const started = performance.now()
    assert.strictEqual((await world.post("/clock/advance", { ms: 1_000 })).status, 200)
    assert.isAtLeast(performance.now() - started, silenceMillis - 100)
  })

  it.each([0, -1, 1.5, "1"])("refuses a move by %j", async (ms) => {
    const { status, body } = await world.post<Refusal>("/clock/advance", { ms })
    assert.strictEqual(status, 400)
    assert.match(body.error.details[0]!, /^ms:/)
  })
})

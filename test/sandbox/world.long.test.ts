import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { newInstance, startWorld, type TestWorld } from "#test/sandbox/startWorld.ts"
import { account, balance, destroy, isAlive, overview, recorded, usdc, weth } from "#test/sandbox/worldCalls.ts"
import { patienceMillis } from "#test/support/suite/patience.ts"

/** How long a poll of the world's clock may stay open. */
const longPollMillis = 25_000

let world: TestWorld

/** Waits until the chain's state was written twice from now on: the first writing may have begun earlier. */
const chainSaved = async () => {
  const path = join(world.instance.dataDir, "chains", "8453.state")
  const written = () => (existsSync(path) ? statSync(path).mtimeMs : 0)
  for (let times = 0; times < 2; times += 1) {
    const before = written()
    for (let waited = 0; waited < patienceMillis && written() === before; waited += 20) await wait(20)
    assert.notStrictEqual(written(), before, "the chain's state is not saved")
  }
}

beforeAll(async () => {
  world = await startWorld(await newInstance(mkdtempSync(join(tmpdir(), "ballast-world-"))))
  assert.include(world.output(), "is ready")
})

afterAll(() => destroy(world))

describe("life of a world", () => {
  it("refuses a second world on the same folder and one on taken ports", async () => {
    const same = await startWorld(await newInstance(world.instance.dataDir))
    assert.strictEqual(await same.ended, 1)
    assert.include(same.output(), "Another sandbox")
    const other = mkdtempSync(join(tmpdir(), "ballast-world-"))
    const crowded = await startWorld({ ...(await newInstance(other)), api: world.instance.api })
    assert.strictEqual(await crowded.ended, 1)
    assert.include(crowded.output(), `Port ${world.instance.api} (PORT)`)
    rmSync(other, { recursive: true, force: true })
  })

  it("says which port it is that another program took while its chains started", async () => {
    const instance = await newInstance(mkdtempSync(join(tmpdir(), "ballast-world-")))
    const starting = startWorld(instance)
    // A chain is recorded once the ports were found free.
    const hasChain = () => {
      const path = join(instance.dataDir, "processes.json")
      return existsSync(path) && readFileSync(path, "utf8").includes("chain")
    }
    for (let waited = 0; waited < patienceMillis && !hasChain(); waited += 5) await wait(5)
    const other = createServer()
    other.listen(instance.control, "127.0.0.1")
    await once(other, "listening")
    const late = await starting
    assert.strictEqual(await late.ended, 1)
    assert.include(late.output(), `Port ${instance.control} (SANDBOX_PORT) cannot be used`)
    other.close()
    rmSync(instance.dataDir, { recursive: true, force: true })
  })

  it("says why, when the API cannot start", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "ballast-world-"))
    const failed = await startWorld(await newInstance(dataDir), [], { API_PROGRAM: join(dataDir, "missing.ts") })
    assert.strictEqual(await failed.ended, 1)
    assert.include(failed.output(), "The API is not ready")
    assert.include(failed.output(), "missing.ts")
    rmSync(dataDir, { recursive: true, force: true })
  })

  it("goes on after a SIGKILL: balances, prices, time, tenants; nothing of the old one is left running", async () => {
    await world.post("/faucet", { accountId: `eip155:8453:${account}`, assetId: usdc, amountRaw: "1500000" })
    await world.post("/prices", { assetId: weth, priceUsd: "3000.25" })
    await world.post("/clock/advance", { ms: 7_200_000 })
    const held = await balance(world, usdc)
    assert.strictEqual(held, 1_500_000n)
    const before = await overview(world)
    const orphans = recorded(world)
    await chainSaved()
    world.supervisor.kill("SIGKILL")
    await world.ended
    world = await startWorld(world.instance)
    assert.include(world.output(), "is ready", world.output())
    assert.isTrue(orphans.every(({ pid }) => !isAlive(pid)))
    assert.strictEqual(await balance(world, usdc), held)
    const after = await overview(world)
    assert.deepStrictEqual(after.tenants, before.tenants)
    assert.strictEqual(after.chains[0]!.assets[1]!.priceUsd, "3000.25")
    assert.isAtLeast(after.now, before.now)
  })

  it("ends all its processes on SIGTERM, long polls or not, and keeps the last block", async () => {
    await world.post("/faucet", { accountId: `eip155:8453:${account}`, assetId: usdc, amountRaw: "1" })
    const held = await balance(world, usdc)
    const children = recorded(world)
    const { body } = await world.get<{ version: number }>("/clock")
    void world.get(`/clock?after=${body.version}&id=late`).catch(() => undefined)
    await wait(50)
    const started = performance.now()
    world.supervisor.kill("SIGTERM")
    await world.ended
    assert.isBelow(performance.now() - started, longPollMillis)
    assert.isTrue(children.every(({ pid }) => !isAlive(pid)))
    world = await startWorld(world.instance)
    assert.strictEqual(await balance(world, usdc), held)
  })

  it("does not wait for a stuck process on a second Ctrl-C", async () => {
    world.supervisor.kill("SIGTERM")
    await world.ended
    world = await startWorld(world.instance, [], { STUBBORN: "1" })
    const children = recorded(world)
    world.supervisor.kill("SIGINT")
    // The kernel merges equal signals that arrive together.
    await wait(300)
    world.supervisor.kill("SIGINT")
    assert.strictEqual(await world.ended, 130)
    for (let waited = 0; waited < patienceMillis && children.some(({ pid }) => isAlive(pid)); waited += 20)
      await wait(20)
    assert.isTrue(children.every(({ pid }) => !isAlive(pid)))
    world = await startWorld(world.instance)
    assert.include(world.output(), "is ready")
  })

  it("begins anew with --reset", async () => {
    world.supervisor.kill("SIGTERM")
    await world.ended
    world = await startWorld(world.instance, ["--reset"])
    assert.strictEqual(await balance(world, usdc), 0n)
    const body = await overview(world)
    assert.strictEqual(body.tenants.length, 2)
    assert.strictEqual(body.chains[0]!.assets[1]!.priceUsd, "2500")
  })
})

/** The third command of the README: `npm run demo` against a running world, and its backtest. */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { startWorld, type World, worldFolder } from "#test/support/World.ts"

let world: World
let folder: Awaited<ReturnType<typeof worldFolder>>

beforeAll(async () => {
  folder = await worldFolder()
  world = await startWorld(folder.dataDir)
})

afterAll(async () => {
  await world?.stop()
  await folder?.remove()
})

/** What `npm run demo` prints against the world, and the status that it ends with. */
const demo = (...args: ReadonlyArray<string>) =>
  new Promise<{ readonly code: number | null; readonly text: string }>((resolve, reject) => {
    const child = spawn("npm", ["run", "--silent", "demo", "--", ...args], {
      cwd: join(import.meta.dirname, "../.."),
      env: { ...process.env, SANDBOX_PORT: new URL(world.controlUrl).port },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let text = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (text += chunk.toString()))
    child.on("error", reject).on("exit", (code) => resolve({ code, text }))
  })

describe("npm run demo", () => {
  it("takes one user through the whole journey and draws the result", async () => {
    const { code, text } = await demo()
    assert.strictEqual(code, 0, text)
    for (const part of [
      "Fund and rebalance",
      "Rebalance on chain",
      "The schedule rebalances by itself",
      "Take something out"
    ])
      assert.include(text, part)
    assert.match(text, /8453\s+WETH\s+\d+\.\d+\s+\$\d+\.\d+\s+\d+\.\d+%\s+40\.00%.*on target/u)
    assert.notInclude(text, "✗")
  })

  it("-- solana takes an owner through SOL, dollars and a share, and out again without the service", async () => {
    const { code, text } = await demo("solana")
    assert.strictEqual(code, 0, text)
    for (const symbol of ["USDC", "SOL", "TSLAx"]) {
      assert.match(text, new RegExp(`1399811149\\s+${symbol}\\s+\\d+\\.\\d+\\s+\\$\\d+\\.\\d+.*on target`, "u"))
    }
    assert.lengthOf([...text.matchAll(/taken solana:/gu)], 3)
  })

  it("-- backtest draws what policies would have done over the prices that the world has recorded", async () => {
    const { code, text } = await demo("backtest")
    assert.strictEqual(code, 0, text)
    for (const policy of ["bands of 10 %", "automatic bands", "exact target", "buy and hold"])
      assert.match(text, new RegExp(`${policy}\\s+\\S+ \\$\\d+\\.\\d\\d\\s+\\d+\\.\\d\\d bps`, "u"))
  })
})

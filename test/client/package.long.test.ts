/**
 * The client as users get it: packed, installed into an empty folder, run by the Node versions that are here through
 * a user's whole journey, and bundled for browsers.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { rolldown } from "rolldown"
import { startWorld, type World, worldFolder } from "#test/support/World.ts"
import { patienceMillis } from "#test/support/suite/patience.ts"

const run = promisify(execFile)
const root = join(import.meta.dirname, "../..")

let user: string
let world: World
let folder: Awaited<ReturnType<typeof worldFolder>>

beforeAll(async () => {
  user = await mkdtemp(join(tmpdir(), "ballast-user-"))
  folder = await worldFolder()
  const { stdout } = await run(process.execPath, [join(root, "scripts/packClient.ts"), join(user, "packed")])
  await writeFile(join(user, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }))
  const { effect, viem } = JSON.parse(await readFile(join(root, "package.json"), "utf8")).dependencies
  await run("npm", ["install", "--no-audit", "--no-fund", stdout.trim(), `effect@${effect}`, `viem@${viem}`], {
    cwd: user
  })
  world = await startWorld(folder.dataDir, { REBALANCE_COOLDOWN_SECONDS: "1" })
})

afterAll(async () => {
  await world?.stop()
  await folder?.remove()
  await rm(user, { recursive: true, force: true, maxRetries: 5 })
})

/** Node versions by their program; another one than the tests' own is the machine's. */
const machines = ["/usr/bin/node", "/usr/local/bin/node"].filter((path) => existsSync(path))
const nodes = [process.execPath, ...machines]

const journey = `
import { connect, BallastError } from "ballast/client"
import { enroll, withdraw } from "ballast/signing"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"

const { baseUrl, apiKey, control, usdc, weth } = JSON.parse(process.argv[2])
const ballast = connect({ baseUrl, apiKey })
const owner = privateKeyToAccount(generatePrivateKey())
const { strategyId } = await ballast.strategies.create({
  name: "Halves",
  allocation: { assets: [{ assetId: usdc, weight: "50" }, { assetId: weth, weight: "50" }] },
  schedule: { type: "interval", frequency: "daily" }
})
let after = "0"
for await (const { eventId } of ballast.events.list()) after = eventId
const log = ballast.events.follow({ after })[Symbol.asyncIterator]()
const { portfolioId, smartAccounts } = await enroll(ballast, owner, { strategyId, chainIds: [8453] })
await fetch(control + "/faucet", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ accountId: smartAccounts[0].accountId, assetId: usdc, amountRaw: "10000000000" })
})
const { operationId } = await ballast.portfolios.rebalance(portfolioId)
const kinds = []
for await (const { kind } of ballast.operations.watch(operationId)) kinds.push(kind)
const rebalanced = await ballast.operations.finished(portfolioId, operationId, { waitSeconds: 60 })
const { assets } = await ballast.portfolios.positions(portfolioId)
const held = assets.find(({ assetId }) => assetId === weth)
const taken = await withdraw(ballast, owner, {
  portfolioId,
  recipientAccountId: "eip155:8453:" + owner.address,
  assets: [{ assetId: weth, amountRaw: held.balanceRaw }]
})
const withdrawn = await ballast.operations.finished(portfolioId, taken.operationId, { waitSeconds: 60 })
const unknown = await ballast.portfolios.get("pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8").catch((error) => error)
const seen = []
while (!seen.some((id) => id === taken.operationId)) seen.push((await log.next()).value.operationId)
await log.return()
console.log(JSON.stringify({
  node: process.versions.node,
  states: [rebalanced.state, withdrawn.state],
  last: kinds.at(-1),
  code: unknown instanceof BallastError ? unknown.code : String(unknown),
  followed: seen.includes(operationId)
}))
process.exit(0)
`

describe("the packed client", () => {
  it("takes a user through the journey on every Node that is here, the tests' own and the machine's", async () => {
    await writeFile(join(user, "journey.js"), journey)
    const options = {
      baseUrl: world.overview.apiBaseUrl,
      apiKey: world.key,
      control: world.controlUrl,
      usdc: world.asset(8453, "USDC").assetId,
      weth: world.asset(8453, "WETH").assetId
    }
    for (const node of nodes) {
      const { stdout } = await run(node, ["journey.js", JSON.stringify(options)], {
        cwd: user,
        timeout: patienceMillis
      })
      const { node: version, ...printed } = JSON.parse(stdout)
      assert.deepStrictEqual(
        printed,
        { states: ["completed", "completed"], last: "execution.result", code: "API_006", followed: true },
        `Node ${version}`
      )
    }
  })

  it("has no handler, no adapter and no module of Node", async () => {
    const files = await readdir(join(user, "node_modules/ballast/dist"), { recursive: true })
    assert.isAbove(files.length, 100)
    assert.deepStrictEqual(
      files.filter((path) => /Live\.|^(layers|src|sandbox|migrations)/u.test(path)),
      []
    )
  })

  /** Most kibibytes of a minified bundle. */
  const bundles = [
    ["ballast/client", 900],
    ["ballast/rpc", 900],
    ["ballast/stream", 400],
    ["ballast/signing", 400]
  ] as const

  for (const [entry, limit] of bundles) {
    it(`${entry} bundles for browsers without a module of Node, within ${limit} KiB`, async () => {
      const input = join(user, "entry.js")
      await writeFile(input, `export * from ${JSON.stringify(entry)}`)
      const warnings: Array<string> = []
      const build = await rolldown({
        input,
        platform: "browser",
        onLog: (_level, { message }) => warnings.push(message)
      })
      const { output } = await build.generate({ format: "esm", minify: true })
      await build.close()
      const [chunk] = output
      assert.deepStrictEqual([...chunk.imports, ...chunk.dynamicImports], [])
      assert.deepStrictEqual(warnings, [])
      assert.isBelow(Buffer.byteLength(chunk.code) / 1024, limit)
    })
  }
})

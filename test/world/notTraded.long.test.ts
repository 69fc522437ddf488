/**
 * docs/not-traded.md, walked on a world: somebody who has a key, a portfolio and that page finds out why the portfolio
 * was not traded, by curl, by the client and by the command line.
 */
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { enroll, finishedOperation, atRest, fund, newOwner, rebalance } from "#test/support/journey.ts"
import { startWorld, type World, worldFolder } from "#test/support/World.ts"
import { patienceMillis } from "#test/support/suite/patience.ts"

const root = join(import.meta.dirname, "../..")
const page = readFileSync(join(root, "docs/not-traded.md"), "utf8")
const execute = promisify(execFile)

/** The lines of the page's shell blocks that begin so, in order. */
const linesOf = (program: string): ReadonlyArray<string> =>
  [...page.matchAll(/```sh\n(.*?)```/gsu)].flatMap(([, block]) =>
    block!.split("\n").filter((line) => line.startsWith(program))
  )

let world: World
let folder: Awaited<ReturnType<typeof worldFolder>>
let portfolioId: string
let operationId: string
let environment: Record<string, string>

/** Half of the portfolio is to be a token that the attestor alone prices, and the attestor is down. */
beforeAll(async () => {
  folder = await worldFolder()
  world = await startWorld(folder.dataDir, { REBALANCE_COOLDOWN_SECONDS: "0" })
  const assets = ["USDC", "SEAM"].map((symbol) => ({ assetId: world.asset(8453, symbol).assetId, weight: "50.00" }))
  const strategy = { name: "Long tail", allocation: { assets }, schedule: { type: "interval", frequency: "daily" } }
  const { body } = await world.api("POST", "/v2/strategies", strategy)
  const portfolio = await enroll(world, { strategyId: body.data.strategyId, owner: newOwner() }, [8453])
  // While a run of the schedule is under way, the portfolio names it.
  await atRest(world, portfolio.portfolioId)
  assert.strictEqual((await world.control("/faults", { target: "attestor", mode: "down" })).status, 200)
  await fund(world, portfolio.accounts, 1_000n)
  portfolioId = portfolio.portfolioId
  operationId = await rebalance(world, portfolioId)
  assert.strictEqual((await finishedOperation(world, portfolioId, operationId)).state, "completed")
  environment = {
    BALLAST_API_KEY: world.overview.tenants[0]!.readOnlyApiKey,
    BALLAST_URL: world.overview.apiBaseUrl,
    PORTFOLIO: portfolioId,
    OPERATION: operationId
  }
})

afterAll(async () => {
  await world?.stop()
  await folder?.remove()
})

const shell = async (line: string) =>
  (await execute("sh", ["-euc", line], { cwd: root, env: { ...process.env, ...environment } })).stdout

describe("why a portfolio was not traded", () => {
  it("is found out by curl: each call of the page leads to the next, and the last names the skip", async () => {
    // The filters behind the pipes show a part of the answer.
    const calls = linesOf("curl").map((line) => line.split(" | jq ")[0]!)
    assert.lengthOf(calls, 3)
    const [portfolio, list, detail] = await Promise.all(calls.map(async (line) => JSON.parse(await shell(line)).data))
    assert.deepStrictEqual(portfolio.attention, [], "it waits for nobody")
    assert.isNull(portfolio.activeOperationId)
    assert.deepInclude(portfolio.lastOperation, { operationId, outcome: "skipped" })
    assert.deepInclude(list.operations[0], { operationId, outcome: "skipped" })
    assert.match(list.operations[0].reason, /price/iu)
    assert.deepInclude(detail.result.chains[0].skips[0], {
      code: "PRICE_NOT_ATTESTED",
      buy: world.asset(8453, "SEAM").assetId
    })
  })

  it("is found out by the client: the page's program, as it stands, names the run, its sentence and the skip", async () => {
    const [, program] = /^```ts\n([\s\S]*?)^```$/mu.exec(page)!
    // Within the repository, whose own name the program imports.
    const builds = join(root, ".data")
    await mkdir(builds, { recursive: true })
    const place = await mkdtemp(join(builds, "not-traded-"))
    try {
      await writeFile(join(place, "why.ts"), program!)
      const { stdout } = await execute(process.execPath, [join(place, "why.ts")], {
        env: { ...process.env, ...environment },
        timeout: patienceMillis
      })
      assert.match(stdout, /^\[\] null$/mu, "it waits for nobody")
      assert.match(stdout, new RegExp(`^${operationId} skipped .*price`, "imu"))
      assert.include(stdout, "PRICE_NOT_ATTESTED")
      assert.include(stdout, world.asset(8453, "SEAM").assetId)
    } finally {
      await rm(place, { recursive: true, force: true })
    }
  })

  it("is found out by the command line, which needs the operation's id alone", async () => {
    const [list, show, ...others] = linesOf("npm run cli -- operations")
    assert.isEmpty(others)
    const listed = await shell(list!)
    for (const part of [operationId, "skipped"]) assert.include(listed, part)
    const shown = await shell(show!)
    assert.match(shown, /skipped\s+PRICE_NOT_ATTESTED \S*0x\w+/u)
  })

  it("the page says what to do about the skip", () => {
    assert.match(page, /\| .*`PRICE_NOT_ATTESTED`.* \| wait for the market/u)
  })
})

/** The service is killed with -9 in the middle of its work: the run finishes once, correctly, and nothing is lost. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { setTimeout as delay } from "node:timers/promises"
import {
  chainBalance,
  createStrategy,
  enroll,
  finishedOperation,
  atRest,
  fund,
  newOwner,
  rebalance,
  wethShare
} from "#test/support/journey.ts"
import { startWorld, type World, worldFolder } from "#test/support/World.ts"

let world: World
let folder: Awaited<ReturnType<typeof worldFolder>>
let strategyId: string

beforeAll(async () => {
  folder = await worldFolder()
  world = await startWorld(folder.dataDir, { REBALANCE_COOLDOWN_SECONDS: "1" })
  strategyId = await createStrategy(world)
})

afterAll(async () => {
  await world?.stop()
  await folder?.remove()
})

const kill = () => world.control("/faults", { target: "api", mode: "kill" })

describe("kill -9 of the API", () => {
  // Of the whole service, at any moments; `crash/crashMatrix.long.test.ts` goes through all boundaries of runs.
  it.each([0, 150, 400])("%s ms into a rebalance: it finishes once", async (wait) => {
    const { portfolioId, accounts } = await enroll(world, { strategyId, owner: newOwner() })
    await fund(world, accounts, 10_000n)
    const operationId = await rebalance(world, portfolioId)
    await delay(wait)
    assert.strictEqual((await kill()).status, 200)
    const operation = await finishedOperation(world, portfolioId, operationId)
    assert.strictEqual(operation.state, "completed", JSON.stringify(operation))
    for (const account of accounts) {
      assert.closeTo(await wethShare(world, account), 0.6, 0.01)
      // One swap each: 6,000 of 10,000 USDC were sold, and not twice.
      assert.closeTo(Number(await chainBalance(world, account, "USDC")) / 1e6, 4000, 60)
    }
  })

  it("keeps keys, portfolios and history", async () => {
    const before = (await world.api("GET", "/v2/portfolios")).body.data.portfolios.length
    await kill()
    assert.strictEqual((await world.api("GET", "/v2/portfolios")).body.data.portfolios.length, before)
  })
})

describe("a restart of the whole world", () => {
  it("finds chains, portfolios and keys as they were", async () => {
    const { portfolioId, accounts } = await enroll(world, { strategyId, owner: newOwner() })
    await atRest(world, portfolioId)
    await fund(world, accounts, 100n)
    assert.strictEqual(await world.stop(), 130, "ended by the signal, in order")
    world = await startWorld(folder.dataDir)
    assert.strictEqual((await world.api("GET", `/v2/portfolios/${portfolioId}`)).status, 200)
    assert.strictEqual(await chainBalance(world, accounts[0]!, "USDC"), 100_000_000n)
  })
})

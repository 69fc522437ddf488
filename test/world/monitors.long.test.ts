/** A strategy with a drift band on a local world: a price moves, the band fires, and the run is made. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  type EnrolledPortfolio,
  enroll,
  finishedOperation,
  fund,
  newOwner,
  rebalance,
  wethShare
} from "#test/support/journey.ts"
import { eventually, startWorld, type World, worldFolder } from "#test/support/World.ts"

let world: World
let folder: Awaited<ReturnType<typeof worldFolder>>

beforeAll(async () => {
  folder = await worldFolder()
  world = await startWorld(folder.dataDir)
}, 120_000)

afterAll(async () => {
  await world?.stop()
  await folder?.remove()
}, 120_000)

const weth = () => world.asset(8453, "WETH").assetId

const newStrategy = async (): Promise<string> => {
  const assets = [weth(), world.asset(8453, "USDC").assetId].map((assetId) => ({ assetId, weight: "50.00" }))
  const triggers = { drift: { band: { kind: "absolute", width: 500 } } }
  const { body, status } = await world.api("POST", "/v2/strategies", {
    name: "Halves",
    allocation: { assets },
    schedule: { type: "interval", frequency: "monthly" },
    triggers
  })
  assert.strictEqual(status, 201, JSON.stringify(body))
  assert.deepStrictEqual(body.data.triggers, triggers)
  return body.data.strategyId
}

const setEther = async (usd: number) => {
  const { status } = await world.control("/prices", { assetId: weth(), priceUsd: usd.toFixed(2) })
  assert.strictEqual(status, 200)
}

/** The portfolio's runs that a trigger started, newest first. */
const fired = async ({ portfolioId }: EnrolledPortfolio): Promise<ReadonlyArray<any>> => {
  const { body, status } = await world.api("GET", `/v2/portfolios/${portfolioId}/operations?limit=100`)
  assert.strictEqual(status, 200, JSON.stringify(body))
  return body.data.operations.filter(({ trigger }: { readonly trigger: string }) => trigger === "triggered")
}

describe("drift bands", () => {
  it("a price that leaves the band starts one run, which trades to the target and says what fired", async () => {
    const portfolio = await enroll(world, await newStrategy(), newOwner(), [8453])
    await fund(world, portfolio.accounts, 10_000n)
    const first = await rebalance(world, portfolio.portfolioId)
    assert.strictEqual((await finishedOperation(world, portfolio.portfolioId, first)).state, "completed")
    assert.deepStrictEqual(await fired(portfolio), [])

    // From a half to three fifths: ten points off, and the band has five.
    const price = 3_750
    await setEther(price)
    const [latest] = await eventually(
      "the band fires",
      async () => {
        const runs = await fired(portfolio)
        return runs.length > 0 ? runs : undefined
      },
      120
    )
    assert.strictEqual(latest.firedBy.kind, "portfolio_drift_from_target")
    assert.match(latest.firedBy.summary, /^Drift of Halves: eip155:8453.*its target 50\.00 % and its band 5\.00 %/u)
    const run = await finishedOperation(world, portfolio.portfolioId, latest.operationId)
    assert.strictEqual(run.state, "completed", JSON.stringify(run))
    assert.strictEqual(run.outcome, "traded")
    assert.isBelow(Math.abs((await wethShare(world, portfolio.accounts[0]!, price)) - 0.5), 0.02)
    assert.lengthOf(await fired(portfolio), 1)
  }, 600_000)
})

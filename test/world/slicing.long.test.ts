/**
 * A trade that its market cannot take at once, on a local world: slices over several runs, all before the period is
 * over, while arbitrage brings the pools back in between.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { enroll, fund, newOwner, settled, wethShare } from "#test/support/journey.ts"
import { startWorld, type World, worldFolder } from "#test/support/World.ts"

const minute = 60_000
const longestRest = 60 * minute
const day = 24 * 60 * minute
const week = 7 * day
/** What each side of the sandbox's pools is worth. */
const sideUsd = 20_000_000
const poolShareBps = 300
const priceImpactBps = 30

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

const weth = () => world.asset(8453, "WETH").assetId

const createStrategy = async (): Promise<string> => {
  const assets = [weth(), world.asset(8453, "USDC").assetId].map((assetId) => ({ assetId, weight: "50.00" }))
  const { body, status } = await world.api("POST", "/v2/strategies", {
    name: "In slices",
    allocation: { assets },
    schedule: { type: "interval", frequency: "weekly" },
    preferences: {
      swap: { priceImpactBps },
      rebalancePolicy: { band: { kind: "relative", width: 100 }, slicing: { poolShareBps } }
    }
  })
  assert.strictEqual(status, 201, JSON.stringify(body))
  return body.data.strategyId
}

interface Run {
  readonly endedAt: number
  readonly soldUsd: number
  readonly codes: ReadonlyArray<string>
}

/** Oldest first. */
const runsOf = async (portfolioId: string): Promise<ReadonlyArray<Run>> => {
  const path = `/v2/portfolios/${portfolioId}/operations`
  const { body: listed, status } = await world.api("GET", `${path}?limit=100`)
  assert.strictEqual(status, 200, JSON.stringify(listed))
  const runs: Array<Run> = []
  for (const { operationId } of listed.data.operations) {
    const { body } = await world.api("GET", `${path}/${operationId}`)
    const { finishedAt, result } = body.data
    const [chain] = result.chains
    const sold = chain.swaps.reduce((sum: number, { soldRaw }: { soldRaw: string }) => sum + Number(soldRaw), 0)
    const codes = chain.skips.map(({ code }: { code: string }) => code)
    runs.unshift({ endedAt: Date.parse(finishedAt), soldUsd: sold / 1e6, codes })
  }
  return runs
}

const advance = async (ms: number): Promise<number> => (await world.control("/clock/advance", { ms })).body.now

describe("slices", () => {
  it("of $1,000,000 to be sold stay within a day's share of the pool, and the last is made before the week is over", async () => {
    const portfolio = await enroll(world, { strategyId: await createStrategy(), owner: newOwner() }, [8453])
    await fund(world, portfolio.accounts, 2_000_000n)
    const { portfolioId } = portfolio
    const firstDueAt = await settled(world, portfolioId, { by: 0 })
    const end = firstDueAt + week
    let dueAt = await settled(world, portfolioId, { by: await advance(minute) })
    // The last slice made, the portfolio is due when it would have been without any.
    for (let polls = 0; dueAt < end && polls < 100; polls += 1) {
      await world.control("/prices", { assetId: weth(), priceUsd: "2500.00" })
      dueAt = await settled(world, portfolioId, { by: await advance(longestRest + minute) })
    }
    assert.strictEqual(dueAt, end)
    const runs = await runsOf(portfolioId)
    const made = runs.filter(({ soldUsd }) => soldUsd > 0)
    const report = JSON.stringify(runs)
    // In a pool of $20 million a side thirty basis points are some $60,000.
    const sliceUsd = sideUsd * (priceImpactBps / 10_000)
    assert.isAtLeast(made.length, 16, report)
    for (const { endedAt, soldUsd } of made) {
      assert.isBelow(soldUsd, sliceUsd * 1.02, report)
      const ofDay = made.filter((run) => run.endedAt <= endedAt && run.endedAt > endedAt - day)
      const soldOfDay = ofDay.reduce((sum, run) => sum + run.soldUsd, 0)
      assert.isAtMost(soldOfDay, sideUsd * (poolShareBps / 10_000) * 1.01, report)
    }
    // The share of the day was what stopped them in between, as the runs say.
    const waiting = runs.filter(({ soldUsd }) => soldUsd === 0)
    assert.isNotEmpty(waiting)
    for (const { codes } of waiting) assert.include(codes, "SLICED", report)
    assert.isBelow(made.at(-1)!.endedAt, end)
    assert.notInclude(made.at(-1)!.codes, "SLICED")
    assert.closeTo(await wethShare(world, portfolio.accounts[0]!), 0.495, 0.001)
  }, 900_000)
})

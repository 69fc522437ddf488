/**
 * Value moves between the chains of a world by itself: what left is always counted, and what went wrong comes to rest.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { chainBalance, chainIds, enroll, type EnrolledPortfolio, fund, newOwner } from "#test/support/journey.ts"
import { eventually, startWorld, type World, worldFolder } from "#test/support/World.ts"

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

const base = 8453
const arbitrum = 42161

const positions = async ({ portfolioId }: EnrolledPortfolio) => {
  const answer = await world.api("GET", `/v2/portfolios/${portfolioId}/positions`)
  assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
  return answer.body.data
}

const scripted = async (mode: string, count?: number) => {
  const answer = await world.control("/faults", { target: "bridge", mode, ...(count === undefined ? {} : { count }) })
  assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
}

/** Half in USDC on Base, half in WETH on Arbitrum. */
const newStrategy = async () => {
  const assets = [
    { assetId: world.asset(base, "USDC").assetId, weight: "50.00" },
    { assetId: world.asset(arbitrum, "WETH").assetId, weight: "50.00" }
  ]
  const body = { name: "Both sides", allocation: { assets }, schedule: { type: "interval", frequency: "daily" } }
  const answer = await world.api("POST", "/v2/strategies", body)
  assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
  return answer.body.data.strategyId as string
}

/** 10,000 dollars of USDC on Base and nothing elsewhere; the schedule does the rest. */
const depositor = async () => {
  const portfolio = await enroll(world, { strategyId: await newStrategy(), owner: newOwner() }, chainIds)
  await fund(world, [portfolio.accounts.find((account) => account.includes(`:${base}:`))!], 10_000n)
  return portfolio
}

const rebalance = async ({ portfolioId }: EnrolledPortfolio) => {
  const answer = await world.api("POST", `/v2/portfolios/${portfolioId}/rebalance`)
  assert.include([202, 409, 429], answer.status, JSON.stringify(answer.body))
}

const accountOn = (portfolio: EnrolledPortfolio, chainId: number) =>
  portfolio.accounts.find((account) => account.includes(`:${chainId}:`))!

describe("value between chains", () => {
  it("reaches the target from one chain alone, and the total never dips", async () => {
    const portfolio = await depositor()
    await rebalance(portfolio)
    const totals: Array<number> = []
    const transit: Array<number> = []
    await eventually("the portfolio is on target", async () => {
      const read = await positions(portfolio)
      totals.push(Number(read.totalValueUsd))
      transit.push(read.inTransit.items.length)
      for (const item of read.inTransit.items) {
        assert.strictEqual(item.sourceAssetId, `${world.asset(base, "USDC").assetId.split(":").at(-1)}:${base}`)
        assert.strictEqual(item.destinationChainId, arbitrum)
      }
      const weth = (Number(await chainBalance(world, accountOn(portfolio, arbitrum), "WETH")) / 1e18) * 2500
      return weth > 4_900 ? true : undefined
    })
    assert.isTrue(
      transit.some((count) => count === 1),
      "the transfer was seen on its way"
    )
    for (const total of totals) assert.closeTo(total, 10_000, 100)
    const left = Number(await chainBalance(world, accountOn(portfolio, base), "USDC")) / 1e6
    assert.closeTo(left, 5_000, 30)
  })

  it("counts a refund as what it is, and sends again", async () => {
    await scripted("refunded", 1)
    const portfolio = await depositor()
    await rebalance(portfolio)
    await eventually("the portfolio is on target after a refund", async () => {
      assert.closeTo(Number((await positions(portfolio)).totalValueUsd), 10_000, 100)
      const weth = (Number(await chainBalance(world, accountOn(portfolio, arbitrum), "WETH")) / 1e18) * 2500
      return weth > 4_900 ? true : undefined
    })
  })

  it("takes what a bridge delivered instead, and trades it into the target", async () => {
    await scripted("partial", 1)
    const portfolio = await depositor()
    await rebalance(portfolio)
    await eventually("the portfolio is on target after another token arrived", async () => {
      assert.closeTo(Number((await positions(portfolio)).totalValueUsd), 10_000, 100)
      const weth = (Number(await chainBalance(world, accountOn(portfolio, arbitrum), "WETH")) / 1e18) * 2500
      return weth > 4_900 ? true : undefined
    })
  })

  it("goes on where it was when the service is killed while value is on its way", async () => {
    const portfolio = await depositor()
    await rebalance(portfolio)
    await eventually("the transfer is on its way", async () =>
      (await positions(portfolio)).inTransit.items.length > 0 ? true : undefined
    )
    assert.strictEqual((await world.control("/faults", { target: "api", mode: "kill" })).status, 200)
    await eventually("the portfolio is on target after a kill", async () => {
      const weth = (Number(await chainBalance(world, accountOn(portfolio, arbitrum), "WETH")) / 1e18) * 2500
      return weth > 4_900 ? true : undefined
    })
    const read = await positions(portfolio)
    assert.closeTo(Number(read.totalValueUsd), 10_000, 100)
    assert.lengthOf(read.inTransit.items, 0)
    const left = Number(await chainBalance(world, accountOn(portfolio, base), "USDC")) / 1e6
    assert.closeTo(left, 5_000, 30, "sent once")
  })
})

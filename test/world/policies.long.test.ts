/**
 * Two strategies over a quarter of moving prices on a local world: one trades to its exact target, the other within
 * automatic bands, with nothing said about them but that.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  atRest,
  chainBalance,
  type EnrolledPortfolio,
  enroll,
  finishedOperation,
  fund,
  newOwner,
  wethShare
} from "#test/support/journey.ts"
import { eventually, startWorld, type World, worldFolder } from "#test/support/World.ts"

const week = 7 * 86_400_000
/** What the price of ether does in each week of the quarter: it rises by half, with setbacks. */
const moves = [1.09, 0.94, 1.11, 0.95, 1.12, 0.93, 1.1, 1.08, 0.92, 1.12, 0.94, 1.1, 1.06]
const poolFee = 0.003

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

const strategyWith = async (name: string, preferences: object): Promise<string> => {
  const assets = [weth(), world.asset(8453, "USDC").assetId].map((assetId) => ({ assetId, weight: "50.00" }))
  const schedule = { type: "interval", frequency: "weekly" }
  const { body, status } = await world.api("POST", "/v2/strategies", {
    name,
    allocation: { assets },
    schedule,
    preferences
  })
  assert.strictEqual(status, 201, JSON.stringify(body))
  return body.data.strategyId
}

interface Follower {
  readonly portfolio: EnrolledPortfolio
  /** US dollars that were swapped, and in how many weeks, as the chain shows it. */
  turnoverUsd: number
  trades: number
  /** Squared distances of the weight from its target, once each week's run is over. */
  squares: number
  /** What each run says of itself. */
  readonly reports: Array<unknown>
}

const follow = async (name: string, preferences: object): Promise<Follower> => {
  const portfolio = await enroll(
    world,
    { strategyId: await strategyWith(name, preferences), owner: newOwner() },
    [8453]
  )
  await atRest(world, portfolio.portfolioId)
  await fund(world, portfolio.accounts, 10_000n)
  return { portfolio, turnoverUsd: 0, trades: 0, squares: 0, reports: [] }
}

/** Has the portfolio rebalanced; where the schedule is at it already, once that is over, and nothing else is due. */
const run = async ({ portfolio: { portfolioId }, reports }: Follower): Promise<void> => {
  const operationId = await eventually("a run is accepted", async () => {
    const { body, status } = await world.api("POST", `/v2/portfolios/${portfolioId}/rebalance`)
    return status === 202 ? (body.data.operationId as string) : undefined
  })
  const operation = await finishedOperation(world, portfolioId, operationId)
  assert.strictEqual(operation.state, "completed", JSON.stringify(operation))
  reports.push({ trigger: operation.trigger, outcome: operation.outcome, result: operation.result })
  await atRest(world, portfolioId)
}

const held = async ({ portfolio }: Follower): Promise<number> =>
  Number(await chainBalance(world, portfolio.accounts[0]!, "WETH")) / 1e18

describe("policies over a quarter", () => {
  it("automatic bands trade less and cost less than half of the exact target, and leave the weight within five points of it", async () => {
    const exact = await follow("Exact", {})
    const auto = await follow("Auto", { rebalancePolicy: { band: { kind: "auto" } } })
    await run(exact)
    await run(auto)
    let price = 2_500
    for (const move of moves) {
      price *= move
      const before = [await held(exact), await held(auto)]
      await world.control("/prices", { assetId: weth(), priceUsd: price.toFixed(2) })
      await world.control("/clock/advance", { ms: week })
      for (const [index, follower] of [exact, auto].entries()) {
        await run(follower)
        const traded = Math.abs((await held(follower)) - before[index]!)
        follower.turnoverUsd += traded * price
        follower.trades += traded > 0 ? 1 : 0
        follower.squares += ((await wethShare(world, follower.portfolio.accounts[0]!, price)) - 0.5) ** 2
      }
    }
    const error = ({ squares }: Follower) => Math.sqrt(squares / moves.length)
    const costUsd = ({ turnoverUsd }: Follower) => turnoverUsd * poolFee
    const figures = JSON.stringify({
      exact: { costUsd: costUsd(exact), trades: exact.trades, error: error(exact) },
      auto: { costUsd: costUsd(auto), trades: auto.trades, error: error(auto) },
      runs: exact.reports
    })
    assert.strictEqual(exact.trades, moves.length, figures)
    assert.isAbove(auto.trades, 0, figures)
    assert.isBelow(auto.trades, exact.trades / 2, figures)
    assert.isBelow(costUsd(auto), costUsd(exact) / 2, figures)
    assert.isBelow(error(exact), 0.002, figures)
    assert.isBelow(error(auto), 0.05, figures)
  }, 900_000)
})

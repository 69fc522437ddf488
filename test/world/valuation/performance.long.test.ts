/**
 * Performance on a local world: a curve as soon as a strategy exists, and a portfolio whose deposits are separated
 * from its gains.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  createStrategy,
  type EnrolledPortfolio,
  enroll,
  finishedOperation,
  fund,
  newOwner,
  rebalance
} from "#test/support/journey.ts"
import { eventually, startWorld, type World, worldFolder } from "#test/support/World.ts"

let world: World
let folder: Awaited<ReturnType<typeof worldFolder>>
let strategyId: string
let portfolio: EnrolledPortfolio

beforeAll(async () => {
  folder = await worldFolder()
  world = await startWorld(folder.dataDir, { VALUATION_INTERVAL_SECONDS: "1" })
  strategyId = await createStrategy(world)
})

afterAll(async () => {
  await world?.stop()
  await folder?.remove()
})

interface Point {
  readonly date: string
  readonly percentChange: string | null
  readonly valueUsd: string
  readonly cashFlowUsd: string
}

/** Value at the last valuation, all cash that came in, and the return. */
const reading = async () => {
  const { body, status } = await world.api("GET", `/v2/portfolios/${portfolio.portfolioId}/performance`)
  assert.strictEqual(status, 200)
  const points: ReadonlyArray<Point> = body.data.points
  return {
    value: Number(points.at(-1)?.valueUsd ?? "0"),
    cash: points.reduce((sum, { cashFlowUsd }) => sum + Number(cashFlowUsd), 0),
    percent: Number(points.at(-1)?.percentChange ?? "NaN"),
    isLive: body.data.points.at(-1)?.isLive as boolean | undefined
  }
}

/** A reading that was made after something was done and satisfies a condition. */
const readingWhen = (what: string, holds: (read: Awaited<ReturnType<typeof reading>>) => boolean) =>
  eventually(what, async () => {
    const read = await reading()
    return holds(read) ? read : undefined
  })

describe("performance", () => {
  it("a new strategy has a year of history at once", async () => {
    const { body, status } = await world.api("GET", `/v2/strategies/${strategyId}/performance`)
    assert.strictEqual(status, 200)
    const { points, summary } = body.data
    assert.isAtLeast(points.length, 365)
    assert.strictEqual(points[0].percentChange, "0.0000")
    assert.deepStrictEqual(
      summary.windows.slice(0, 5).map(({ window }: { window: string }) => window),
      ["1d", "1w", "1m", "3m", "6m"]
    )
  })

  it("a deposit is cash, not a gain", async () => {
    portfolio = await enroll(world, { strategyId, owner: newOwner() })
    await fund(world, portfolio.accounts, 10_000n)
    const read = await readingWhen("the deposit is seen", ({ cash }) => cash > 19_000)
    assert.closeTo(read.cash, 20_000, 100)
    assert.closeTo(read.value, read.cash, 1)
    assert.closeTo(read.percent, 0, 0.01)
    assert.isTrue(read.isLive)
  })

  it("trades are no cash, and what they cost is a loss", async () => {
    const before = await reading()
    const operationId = await rebalance(world, portfolio.portfolioId)
    const operation = await finishedOperation(world, portfolio.portfolioId, operationId)
    assert.strictEqual(operation.state, "completed", JSON.stringify(operation))
    const read = await readingWhen("the trades are seen", ({ value }) => value < before.value)
    assert.closeTo(read.cash, before.cash, 0.001)
    assert.closeTo(read.percent, (read.value / before.cash - 1) * 100, 0.01)
    assert.isAbove(read.percent, -2)
  })

  it("a rising price is a gain, and a deposit after it changes no return", async () => {
    const before = await reading()
    for (const chainId of [8453, 42161]) {
      await world.control("/prices", { assetId: world.asset(chainId, "WETH").assetId, priceUsd: "3000" })
    }
    const risen = await readingWhen("the new price is seen", ({ percent }) => percent > 10)
    assert.closeTo(risen.cash, before.cash, 0.001)
    await fund(world, portfolio.accounts, 5_000n)
    const funded = await readingWhen("the second deposit is seen", ({ cash }) => cash > before.cash + 9_000)
    assert.closeTo(funded.value - risen.value, 10_000, 100)
    assert.closeTo(funded.percent, risen.percent, 0.1)
  })

  it("days go by, and the open one is the one that is live", async () => {
    const before = await reading()
    await world.control("/clock/advance", { ms: 2 * 86_400_000 })
    const { body } = await eventually("a later day", async () => {
      const answer = await world.api("GET", `/v2/portfolios/${portfolio.portfolioId}/performance`)
      return answer.body.data.points.length >= 2 ? answer : undefined
    })
    const live = body.data.points.filter(({ isLive }: { isLive?: boolean }) => isLive === true)
    assert.lengthOf(live, 1)
    assert.strictEqual(live[0].date, body.data.points.at(-1).date)
    assert.closeTo(Number(body.data.points.at(-1).valueUsd), before.value, 50)
    const curve = await eventually("the strategy's curve reaches today", async () => {
      const { points } = (await world.api("GET", `/v2/strategies/${strategyId}/performance`)).body.data
      return points.at(-1).date === live[0].date ? points : undefined
    })
    assert.isAtLeast(curve.length, 365)
  })
})

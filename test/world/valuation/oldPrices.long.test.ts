/** The price source is down for ten days, on a local world: what is shown, and what is not made of the last prices. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { createStrategy, type EnrolledPortfolio, enroll, fund, newOwner } from "#test/support/journey.ts"
import { eventually, startWorld, type World, worldFolder } from "#test/support/World.ts"

let world: World
let folder: Awaited<ReturnType<typeof worldFolder>>
let portfolio: EnrolledPortfolio

beforeAll(async () => {
  folder = await worldFolder()
  world = await startWorld(folder.dataDir, { VALUATION_INTERVAL_SECONDS: "1" })
  portfolio = await enroll(world, { strategyId: await createStrategy(world), owner: newOwner() })
})

afterAll(async () => {
  await world?.stop()
  await folder?.remove()
})

const read = async (what: "positions" | "performance") => {
  const { body, status } = await world.api("GET", `/v2/portfolios/${portfolio.portfolioId}/${what}`)
  assert.strictEqual(status, 200, JSON.stringify(body))
  return body.data
}

interface Row {
  readonly assetId: string
  readonly priceAsOf: string | null
}

const oldPrices = async () => {
  const { assets, totalValueUsd, warnings } = await read("positions")
  const isSaid = assets.every(({ assetId, priceAsOf }: Row) =>
    warnings.some(
      ({ kind, message }: { readonly kind: string; readonly message: string }) =>
        kind === "MISSING_PRICE" && message.startsWith(assetId) && message.includes(`of ${priceAsOf} (10 days ago)`)
    )
  )
  return assets.length > 0 && isSaid ? String(totalValueUsd) : undefined
}

it("says how old each price is, values nothing by it, and says the same after a restart", async () => {
  await fund(world, portfolio.accounts, 10_000n)
  const before = await eventually("the deposit is valued", async () => {
    const { points } = await read("performance")
    return Number(points.at(-1)?.valueUsd ?? 0) > 19_000 ? points : undefined
  })
  const total = (await read("positions")).totalValueUsd
  await world.control("/faults", { target: "prices", mode: "down" })
  await world.control("/clock/advance", { ms: 10 * 86_400_000 })
  assert.strictEqual(await eventually("positions say the age", oldPrices), total)
  await world.control("/faults", { target: "api", mode: "kill" })
  assert.strictEqual(await eventually("positions say it after a restart", oldPrices), total)
  const points = (await read("performance")).points
  assert.deepStrictEqual(
    points.map(({ date }: { readonly date: string }) => date),
    before.map(({ date }: { readonly date: string }) => date),
    "no point was made of the old prices"
  )
  await world.control("/faults", { target: "prices", mode: "ok" })
  const after = await eventually("a valuation with prices of now", async () => {
    const { points: later } = await read("performance")
    return later.length > points.length ? later : undefined
  })
  assert.strictEqual(Number(after.at(-1).cashFlowUsd), 0)
  assert.isEmpty((await read("positions")).warnings)
})

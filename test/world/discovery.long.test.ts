/** The operator's public strategy in a fresh world: found, mirrored by another tenant's user, and measured. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { enroll, fund, newOwner } from "#test/support/journey.ts"
import { eventually, startWorld, type World, worldFolder } from "#test/support/World.ts"

let world: World
let folder: Awaited<ReturnType<typeof worldFolder>>

beforeAll(async () => {
  folder = await worldFolder()
  world = await startWorld(folder.dataDir, { DISCOVERY_INTERVAL_SECONDS: "1", VALUATION_INTERVAL_SECONDS: "1" })
})

afterAll(async () => {
  await world?.stop()
  await folder?.remove()
})

/** The only strategy of a collection; the world makes and curates it after the service is ready. */
const found = (collection: string) =>
  eventually(`a strategy is in ${collection}`, async () => {
    const answer = await world.api("GET", `/v2/discovery/strategies?collection=${collection}`)
    assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
    const { strategies } = answer.body.data
    if (strategies.length === 0) return undefined
    assert.lengthOf(strategies, 1)
    return strategies[0]
  })

describe("discovery in a world", () => {
  it("shows the operator's strategy in both collections", async () => {
    const curated = await found("curated")
    assert.strictEqual(curated.name, "Ballast Core")
    assert.isTrue(curated.canMirror)
    assert.strictEqual((await found("top_performing")).strategyId, curated.strategyId)
  })

  it("counts no follower at once, and soon how many there are and with how much", async () => {
    const empty = await eventually("the strategy is measured", async () => {
      const { metrics } = await found("top_performing")
      return metrics.portfolioCount === null ? undefined : metrics
    })
    assert.deepInclude(empty, { tvlUsd: "0.00", portfolioCount: 0 })

    const { strategyId } = await found("curated")
    const { accounts } = await enroll(world, { strategyId, owner: newOwner() })
    await fund(world, accounts, 1_000n)
    const metrics = await eventually("the deposit is in the value", async () => {
      const measured = (await found("top_performing")).metrics
      return Number(measured.tvlUsd) > 1_999 ? measured : undefined
    })
    assert.deepInclude(metrics, { tvlUsd: "2000.00", portfolioCount: 1 })
  })
})

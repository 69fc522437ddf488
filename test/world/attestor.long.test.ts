/**
 * Tokens that only the attestor prices: both chains trade them under the guard, and none is traded on a word that
 * fails.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  chainBalance,
  chainIds,
  enroll,
  type EnrolledPortfolio,
  finishedOperation,
  fund,
  newOwner,
  rebalance
} from "#test/support/journey.ts"
import { startWorld, type World, worldFolder } from "#test/support/World.ts"

/** The token of each chain that has no feed, and what it costs when the world begins. */
const attested = { 8453: "SEAM", 42161: "GRAIL" } as const

let world: World
let folder: Awaited<ReturnType<typeof worldFolder>>

beforeAll(async () => {
  folder = await worldFolder()
  world = await startWorld(folder.dataDir, { REBALANCE_COOLDOWN_SECONDS: "0" })
})

afterAll(async () => {
  await world?.stop()
  await folder?.remove()
})

/** 1,000 dollars on each chain: three fifths stay, a fifth each is to be WETH and the chain's attested token. */
const depositor = async () => {
  const assets = chainIds.flatMap((chainId) => [
    { assetId: world.asset(chainId, "USDC").assetId, weight: "30.00" },
    { assetId: world.asset(chainId, "WETH").assetId, weight: "10.00" },
    { assetId: world.asset(chainId, attested[chainId as 8453]).assetId, weight: "10.00" }
  ])
  const body = { name: "Long tail", allocation: { assets }, schedule: { type: "interval", frequency: "daily" } }
  const answer = await world.api("POST", "/v2/strategies", body)
  assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
  const portfolio = await enroll(world, { strategyId: answer.body.data.strategyId, owner: newOwner() })
  await fund(world, portfolio.accounts, 1_000n)
  return portfolio
}

const run = async ({ portfolioId }: EnrolledPortfolio) =>
  finishedOperation(world, portfolioId, await rebalance(world, portfolioId))

/** Value of what each account holds of a token, in dollars at the world's first prices. */
const held = async ({ accounts }: EnrolledPortfolio, symbolOf: (chainId: number) => string) =>
  Promise.all(
    accounts.map(async (accountId) => {
      const { decimals, priceUsd, symbol } = world.asset(
        Number(accountId.split(":")[1]),
        symbolOf(Number(accountId.split(":")[1]))
      )
      return (Number(await chainBalance(world, accountId, symbol)) / 10 ** decimals) * Number(priceUsd)
    })
  )

const fault = async (mode: string) => {
  const answer = await world.control("/faults", { target: "attestor", mode })
  assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
}

const faults = [
  ["down", /UNAVAILABLE/u],
  ["stale", /STALE.*7\d\d\d s old, the chain takes 300 s/u],
  ["lying", /BEYOND_STEP.*20000 basis points.*the chain takes 500/u]
] as const

describe("the price attestor", () => {
  it("prices what has no feed: both chains rebalance into it through the guard", async () => {
    const portfolio = await depositor()
    const operation = await run(portfolio)
    assert.strictEqual(operation.state, "completed", JSON.stringify(operation))
    for (const value of await held(portfolio, (chainId) => attested[chainId as 8453])) assert.closeTo(value, 200, 4)
  })

  for (const [mode, reason] of faults) {
    it(`${mode}: its legs are left out with code and figures, all others are made, and the next run makes up for it`, async () => {
      const portfolio = await depositor()
      await fault(mode)
      const operation = await run(portfolio)
      await fault("ok")
      assert.strictEqual(operation.state, "completed", JSON.stringify(operation))
      for (const chainId of chainIds) {
        const { assetId } = world.asset(chainId, attested[chainId as 8453])
        const logged = world.serviceLog().split("\n")
        const skipped = logged.filter((line) => line.includes("PRICE_NOT_ATTESTED") && line.includes(assetId))
        assert.isTrue(
          skipped.some((line) => reason.test(line)),
          skipped.join("\n")
        )
      }
      assert.deepStrictEqual(await held(portfolio, (chainId) => attested[chainId as 8453]), [0, 0])
      for (const value of await held(portfolio, () => "WETH")) assert.closeTo(value, 200, 4)
      assert.strictEqual((await run(portfolio)).state, "completed")
      for (const value of await held(portfolio, (chainId) => attested[chainId as 8453])) assert.closeTo(value, 200, 4)
    })
  }

  it("killed with -9, it goes on signing", async () => {
    await fault("kill")
    const portfolio = await depositor()
    assert.strictEqual((await run(portfolio)).state, "completed")
    for (const value of await held(portfolio, (chainId) => attested[chainId as 8453])) assert.closeTo(value, 200, 4)
  })
})

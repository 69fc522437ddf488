/** Each leg is made where it pays more, as the chain itself shows; without LI.FI the venue makes all of them. */
import { Effect } from "effect"
import { createPublicClient, getAbiItem, http } from "viem"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { tradeGuardAbi } from "#layers/evm/tradeGuard.ts"
import { catalogChain } from "#sandbox/assets/catalog.ts"
import { loadContracts } from "#sandbox/chain/Contracts.ts"
import { contractAddresses } from "#sandbox/chain/contractAddresses.ts"
import {
  chainBalance,
  enroll,
  type EnrolledPortfolio,
  finishedOperation,
  fund,
  newOwner,
  rebalance
} from "#test/support/journey.ts"
import { startWorld, type World, worldFolder } from "#test/support/World.ts"

const base = 8453

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

/** 20,000 dollars of USDC, of which 16,000 become WETH, too much for shallow routes, and 2,000 AERO. */
const depositor = async () => {
  const weights = [
    ["USDC", "10.00"],
    ["WETH", "80.00"],
    ["AERO", "10.00"]
  ] as const
  const assets = weights.map(([symbol, weight]) => ({ assetId: world.asset(base, symbol).assetId, weight }))
  const body = { name: "One chain", allocation: { assets }, schedule: { type: "interval", frequency: "daily" } }
  const answer = await world.api("POST", "/v2/strategies", body)
  assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
  const portfolio = await enroll(world, { strategyId: answer.body.data.strategyId, owner: newOwner() }, [base])
  await fund(world, portfolio.accounts, 20_000n)
  return portfolio
}

const addressIn = (accountId: string) => accountId.split(":")[2]!

/** What the account bought over routes, by the guard's own logs. */
const boughtOverRoutes = async ({ accounts }: EnrolledPortfolio) => {
  const { rpcUrl } = world.overview.chains.find(({ chainId }) => chainId === base)!
  const { diamond, guard } = contractAddresses(await Effect.runPromise(loadContracts), catalogChain(base)!)
  const logs = await createPublicClient({ transport: http(rpcUrl) }).getLogs({
    address: guard,
    event: getAbiItem({ abi: tradeGuardAbi, name: "Traded" }),
    args: { account: addressIn(accounts[0]!) as `0x${string}` },
    fromBlock: 0n
  })
  return logs.filter(({ args }) => args.venue === diamond).map(({ args }) => args.buy!)
}

const traded = async (portfolio: EnrolledPortfolio) => {
  const operation = await finishedOperation(world, portfolio.portfolioId, await rebalance(world, portfolio.portfolioId))
  assert.strictEqual(operation.state, "completed", JSON.stringify(operation))
  const [account] = portfolio.accounts
  const weth = (Number(await chainBalance(world, account!, "WETH")) / 1e18) * 2500
  assert.closeTo(weth, 16_000, 160)
  const left = Number(await chainBalance(world, account!, "USDC")) / 1e6
  assert.closeTo(left, 2_000, 100)
}

describe("the best quote", () => {
  it("makes the small leg over a route and the large one on the venue", async () => {
    const portfolio = await depositor()
    await traded(portfolio)
    assert.deepStrictEqual(
      (await boughtOverRoutes(portfolio)).map((address) => address.toLowerCase()),
      [world.asset(base, "AERO").assetId.split(":").at(-1)!.toLowerCase()]
    )
  })

  it("is the venue's while LI.FI fails, and no leg is left out", async () => {
    const answer = await world.control("/faults", { target: "lifi", mode: "error" })
    assert.strictEqual(answer.status, 200)
    const portfolio = await depositor()
    await traded(portfolio)
    assert.isEmpty(await boughtOverRoutes(portfolio))
  })
})

/**
 * A world whose chains confirm slowly, on a PostgreSQL server of the test's own: so there are moments at which an
 * operation has landed and the service does not know.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { setTimeout as wait } from "node:timers/promises"
import {
  chainBalance,
  enroll,
  type EnrolledPortfolio,
  finishedOperation,
  fund,
  newOwner
} from "#test/support/journey.ts"
import { eventually, startWorld, type World } from "#test/support/World.ts"

/**
 * An operation that is in a block waits for twenty blocks until it counts, unless the test makes them: so there is a
 * moment at which it has landed and the service does not know.
 */
const confirmations = 20
const slowlyConfirmed = {
  CONFIRMATIONS_8453: `${confirmations}`,
  CONFIRMATIONS_42161: `${confirmations}`,
  REBALANCE_COOLDOWN_SECONDS: "0",
  /** More than the impact of a trade leaves to be traded, which gas of a rollup's price would not keep from it. */
  TRADE_MIN_USD: "25"
}

/** Does the work while blocks come quickly on both chains. */
export const withBlocks = async <A>(world: World, work: Promise<A>): Promise<A> => {
  const progress = { isDone: false }
  const end = () => void (progress.isDone = true)
  work.then(end, end)
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "anvil_mine",
    params: [`0x${confirmations.toString(16)}`]
  })
  const headers = { "content-type": "application/json" }
  while (!progress.isDone) {
    await Promise.all(world.overview.chains.map(({ rpcUrl }) => fetch(rpcUrl, { method: "POST", headers, body })))
    await wait(2_000)
  }
  return work
}

export const finished = (world: World, portfolioId: string, operationId: string) =>
  withBlocks(world, finishedOperation(world, portfolioId, operationId))

/** A world until the scope closes. */
export const worldOn = (dataDir: string, databaseUrl: string) =>
  Effect.acquireRelease(
    Effect.promise(() => startWorld(dataDir, { ...slowlyConfirmed, DATABASE_URL: databaseUrl })),
    (started) => Effect.promise(() => started.stop())
  )

export const operationOf = async (world: World, portfolioId: string, operationId: string) =>
  (await world.api("GET", `/v2/portfolios/${portfolioId}/operations/${operationId}`)).body.data

export const traded = async (world: World, portfolioId: string, operationId: string) => {
  const operation = await finished(world, portfolioId, operationId)
  assert.strictEqual(operation.state, "completed", operation.error)
  assert.strictEqual(operation.outcome, "traded")
}

/** A portfolio without a schedule, so that only what the test asks for trades. */
export const enrolled = async (world: World, strategyId: string, owner = newOwner()) => {
  const portfolio = await enroll(world, { strategyId, owner })
  const { body, status } = await world.api("POST", `/v2/portfolios/${portfolio.portfolioId}/stop`)
  assert.strictEqual(status, 200, JSON.stringify(body))
  return portfolio
}

/** Funds the accounts of a portfolio, and waits until what they got is confirmed. */
export const funded = async (world: World, { accounts, portfolioId }: EnrolledPortfolio) => {
  const before = await Promise.all(accounts.map((accountId) => chainBalance(world, accountId, "USDC")))
  await fund(world, accounts, 10_000n)
  const isConfirmed = async () => {
    const { body } = await world.api("GET", `/v2/portfolios/${portfolioId}/positions`)
    const shown = await Promise.all(
      accounts.map(async (accountId, index) => {
        const { assetId } = world.asset(Number(accountId.split(":")[1]), "USDC")
        const held = body.data.assets.find((asset: { assetId: string }) => asset.assetId === assetId)
        return BigInt(held?.balanceRaw ?? 0) === before[index]! + 10_000_000_000n
      })
    )
    return shown.every(Boolean) ? true : undefined
  }
  await withBlocks(world, eventually("the money is confirmed on each chain", isConfirmed))
}

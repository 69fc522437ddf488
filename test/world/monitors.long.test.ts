/** A strategy with a drift band on a local world: a price moves, the band fires, and the run is made and reported. */
import { Effect, Exit, Scope } from "effect"
import { Webhook } from "standardwebhooks"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  type EnrolledPortfolio,
  enroll,
  finishedOperation,
  atRest,
  fund,
  newOwner,
  rebalance,
  wethShare
} from "#test/support/journey.ts"
import { type Receiver, receiver } from "#test/support/Receiver.ts"
import { eventually, startWorld, type World, worldFolder } from "#test/support/World.ts"

let world: World
let folder: Awaited<ReturnType<typeof worldFolder>>
let hook: Receiver
const scope = Effect.runSync(Scope.make())

beforeAll(async () => {
  hook = await Effect.runPromise(Scope.provide(receiver(), scope))
  folder = await worldFolder()
  world = await startWorld(folder.dataDir)
})

afterAll(async () => {
  await world?.stop()
  await folder?.remove()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

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

/** What the integrator's server got of an operation, once it has ended; every message is signed. */
const statesOf = (operationId: string, secret: string) =>
  eventually("the webhook reports the end of the run", async () => {
    for (const { body, headers } of hook.received) new Webhook(secret).verify(body, { ...headers })
    const states = hook.received
      .map(({ body }) => JSON.parse(body))
      .filter((event) => event.type === "operation.state_changed" && event.operationId === operationId)
      .map(({ data }) => data.state)
    return states.at(-1) === "completed" ? states : undefined
  })

describe("drift bands", () => {
  it("a price that leaves the band starts one run, reported by a signed webhook, and the workflow waits and fires again", async () => {
    const made = await world.api("POST", "/v2/webhooks", { url: hook.url })
    assert.strictEqual(made.status, 201, JSON.stringify(made.body))
    const portfolio = await enroll(world, { strategyId: await newStrategy(), owner: newOwner() }, [8453])
    await fund(world, portfolio.accounts, 10_000n)
    const first = await rebalance(world, portfolio.portfolioId)
    assert.strictEqual((await finishedOperation(world, portfolio.portfolioId, first)).state, "completed")
    await atRest(world, portfolio.portfolioId)
    assert.deepStrictEqual(await fired(portfolio), [])

    // From a half to three fifths: ten points off, and the band has five.
    const price = 3_750
    await setEther(price)
    const [latest] = await eventually("the band fires", async () => {
      const runs = await fired(portfolio)
      return runs.length > 0 ? runs : undefined
    })
    assert.strictEqual(latest.firedBy.kind, "portfolio_drift_from_target")
    assert.match(latest.firedBy.summary, /^Drift of Halves: eip155:8453.*its target 50\.00 % and its band 5\.00 %/u)
    const run = await finishedOperation(world, portfolio.portfolioId, latest.operationId)
    assert.strictEqual(run.state, "completed", JSON.stringify(run))
    assert.strictEqual(run.outcome, "traded")
    assert.isBelow(Math.abs((await wethShare(world, portfolio.accounts[0]!, price)) - 0.5), 0.02)
    assert.deepStrictEqual(await statesOf(latest.operationId, made.body.data.secret), [
      "accepted",
      "running",
      "completed"
    ])
    assert.lengthOf(await fired(portfolio), 1)

    // An hour later it is back where it was: ten points to the other side, and the workflow waits again.
    assert.strictEqual((await world.control("/clock/advance", { ms: 3_600_000 })).status, 200)
    await setEther(2_500)
    const runs = await eventually("the band fires again", async () => {
      const now = await fired(portfolio)
      return now.length > 1 ? now : undefined
    })
    assert.lengthOf(runs, 2)
    const second = await finishedOperation(world, portfolio.portfolioId, runs[0].operationId)
    assert.strictEqual(second.outcome, "traded", JSON.stringify(second))
    assert.isBelow(Math.abs((await wethShare(world, portfolio.accounts[0]!, 2_500)) - 0.5), 0.02)
  })
})

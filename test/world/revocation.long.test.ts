/**
 * An owner of a world revokes over the API, through a crash of the service; nothing is traded until the owner signs
 * anew.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  chainIds,
  createStrategy,
  enroll,
  finishedOperation,
  fund,
  newOwner,
  rebalance,
  wethShare
} from "#test/support/journey.ts"
import { eventually, startWorld, type World, worldFolder } from "#test/support/World.ts"

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

const data = async (
  status: number,
  { body, method, path }: { readonly method: string; readonly path: string; readonly body?: unknown | undefined }
) => {
  const answer = await world.api(method, path, body)
  assert.strictEqual(answer.status, status, JSON.stringify(answer.body))
  return answer.body.data
}

/** States of all permissions by chain, latest first. */
const statesOf = async (path: string): Promise<ReadonlyArray<ReadonlyArray<string>>> => {
  const { accounts } = await data(200, { method: "GET", path: `${path}/policy` })
  return accounts.map(({ chain }: { readonly chain: any }) => chain.permissions.map(({ state }: any) => state))
}

describe("an owner who revokes", () => {
  it("ends the permission on every chain with one signature, and the next one begins another", async () => {
    const owner = newOwner()
    const portfolio = await enroll(world, { strategyId: await createStrategy(world), owner })
    const { accounts, portfolioId } = portfolio
    const path = `/v2/portfolios/${portfolioId}`
    assert.deepStrictEqual(await statesOf(path), [["unused"], ["unused"]])
    await fund(world, accounts, 10_000n)
    const first = await finishedOperation(world, portfolioId, await rebalance(world, portfolioId))
    assert.strictEqual(first.state, "completed", first.error)
    assert.deepStrictEqual(await statesOf(path), [["active"], ["active"]])

    const issued = await data(200, { method: "POST", path: `${path}/revoke/signature`, body: {} })
    const body = { flowId: issued.flowId, signature: await owner.sign(issued.message.raw) }
    const { operationId } = await data(202, { method: "POST", path: `${path}/revoke`, body })
    assert.strictEqual((await world.control("/faults", { target: "api", mode: "kill" })).status, 200)
    const revoked = await finishedOperation(world, portfolioId, operationId)
    assert.strictEqual(revoked.state, "completed", revoked.error)
    assert.deepStrictEqual(await statesOf(path), [["ended"], ["ended"]])
    const { schedule } = await data(200, { method: "GET", path })
    assert.deepInclude(schedule, { status: "paused", pauseReason: "revoked" })
    for (const route of ["rebalance", "start"]) await data(400, { method: "POST", path: `${path}/${route}` })
    assert.strictEqual((await data(202, { method: "POST", path: `${path}/revoke`, body })).operationId, operationId)

    await fund(world, accounts, 10_000n)
    const shares = await Promise.all(accounts.map((account) => wethShare(world, account)))
    const anew = await data(200, {
      method: "POST",
      path: `${path}/resign/signature`,
      body: { terms: { maxTradeLossBps: 150 } }
    })
    const { accountIndex, agentAccountId, flowId } = anew
    const signature = await owner.sign(anew.message.raw)
    await data(200, {
      method: "POST",
      path: `${path}/resign`,
      body: { chainIds, flowId, accountIndex, agentAccountId, signature }
    })
    assert.deepStrictEqual(await statesOf(path), [
      ["unused", "ended"],
      ["unused", "ended"]
    ])
    await data(200, { method: "POST", path: `${path}/start` })
    const again = await eventually("a run begins anew", async () => {
      const answer = await world.api("POST", `${path}/rebalance`)
      return answer.status === 202 ? (answer.body.data.operationId as string) : undefined
    })
    const last = await finishedOperation(world, portfolioId, again)
    assert.strictEqual(last.state, "completed", last.error)
    for (const [index, account] of accounts.entries()) {
      assert.isBelow(shares[index]!, 0.45)
      assert.closeTo(await wethShare(world, account), 0.6, 0.01)
    }
    const { accounts: policies } = await data(200, { method: "GET", path: `${path}/policy` })
    for (const { chain } of policies) assert.strictEqual(chain.guard.maxTradeLossBps, 150)
  })
})

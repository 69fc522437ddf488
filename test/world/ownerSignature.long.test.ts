/**
 * An owner of a world takes the agent's permission back on one chain: the run waits there, and one signature lets it go
 * on.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { createTestClient, type Hex, http, parseEther, publicActions, walletActions } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { base as baseChain } from "viem/chains"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { stranger } from "#test/layers/evm/EvmWorld.ts"
import { revokeAll } from "#test/layers/evm/account/sdkAccount.ts"
import { createStrategy, enroll, finishedOperation, fund, rebalance, wethShare } from "#test/support/journey.ts"
import { eventually, startWorld, type World, worldFolder } from "#test/support/World.ts"

const base = 8453

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

const account = privateKeyToAccount(generatePrivateKey())
const owner = {
  ownerAccountId: `eip155:0:${account.address}`,
  sign: (raw: Hex) => account.signMessage({ message: { raw } }),
  signTypedData: (typedData: any) => account.signTypedData(typedData)
}

/** The owner's own signature to the account on Base, which anybody may submit. */
const revokeOnBase = async (index: bigint) => {
  const { rpcUrl } = world.overview.chains.find(({ chainId }) => chainId === base)!
  const client = createTestClient({ mode: "anvil", chain: baseChain, transport: http(rpcUrl) })
    .extend(publicActions)
    .extend(walletActions)
  await client.setBalance({ address: stranger.address, value: parseEther("10") })
  await revokeAll({ client, chainId: base } as unknown as Chain, account, index)
}

const data = async (method: string, path: string, body?: unknown) => {
  const answer = await world.api(method, path, body)
  assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
  return answer.body.data
}

describe("an owner who takes the permission back on one chain", () => {
  it("makes the run wait there, trade elsewhere, survive a crash, and go on with one signature", async () => {
    const portfolio = await enroll(world, { strategyId: await createStrategy(world), owner })
    const { portfolioId } = portfolio
    await fund(world, portfolio.accounts, 10_000n)
    const first = await finishedOperation(world, portfolioId, await rebalance(world, portfolioId))
    assert.strictEqual(first.state, "completed", first.error)

    await revokeOnBase(BigInt(portfolio.request["accountIndex"] as string))
    await fund(world, portfolio.accounts, 10_000n)
    const operationId = await rebalance(world, portfolioId)
    const path = `/v2/portfolios/${portfolioId}`
    const inState = (state: string) => async () => {
      const answer = await world.api("GET", `${path}/operations/${operationId}`).catch(() => undefined)
      const operation = answer?.status === 200 ? answer.body.data : undefined
      assert.notStrictEqual(operation?.state, "failed", operation?.error)
      return operation?.state === state ? operation : undefined
    }
    await eventually("the run waits for its owner", inState("awaiting_user"))
    const [onBase, onArbitrum] = portfolio.accounts
    assert.closeTo(await wethShare(world, onArbitrum!), 0.6, 0.01)
    assert.isBelow(await wethShare(world, onBase!), 0.45)
    assert.strictEqual((await world.api("GET", "/health/ready")).status, 200)

    assert.strictEqual((await world.control("/faults", { target: "api", mode: "kill" })).status, 200)
    await eventually("the run still waits", inState("awaiting_user"))

    const issued = await data("POST", `${path}/chains/signature`, { chainIds: [base] })
    await data("POST", `${path}/chains`, {
      flowId: issued.flowId,
      chainIds: [base],
      accountIndex: issued.accountIndex,
      agentAccountId: issued.agentAccountId,
      signature: await owner.sign(issued.message.raw)
    })
    // Its pauses grow to minutes; the clock of the world need not.
    await world.control("/clock/advance", { ms: 600_000 })
    await eventually("the run goes on and completes", inState("completed"))
    assert.closeTo(await wethShare(world, onBase!), 0.6, 0.01)
  })
})

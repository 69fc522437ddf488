/**
 * Many actions on one account, asked for in one moment: each is made in its turn, as if they had been asked for one
 * after the other, and no transaction is paid for in vain.
 */
import { Effect } from "effect"
import { type Address, createPublicClient, encodeFunctionData, erc20Abi, type Hex, http } from "viem"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { loadContracts } from "#sandbox/chain/Contracts.ts"
import { contractAddresses } from "#sandbox/chain/contractAddresses.ts"
import { catalogChain } from "#sandbox/assets/catalog.ts"
import {
  actingChain as base,
  type ActingOwner,
  backendQuote,
  completedSwap,
  signedInOwner,
  submitAction,
  tokenAddress
} from "#test/support/actingOwner.ts"
import { atRest, chainBalance, finishedOperation, rebalance } from "#test/support/journey.ts"
import { startWorld, type World, worldFolder } from "#test/support/World.ts"

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

const chainOf = () => {
  const { rpcUrl } = world.overview.chains.find(({ chainId }) => chainId === base)!
  return createPublicClient({ transport: http(rpcUrl) })
}

/** The transactions of the account since a block: those that took effect, and those that reverted. */
const transactionsSince = async (block: bigint, account: string) => {
  const chain = chainOf()
  const last = await chain.getBlockNumber({ cacheTime: 0 })
  const counts = { succeeded: 0, reverted: 0 }
  for (let number = block + 1n; number <= last; number++) {
    const { transactions } = await chain.getBlock({ blockNumber: number, includeTransactions: true })
    for (const { hash, input } of transactions) {
      if (!input.includes(account.slice(2).toLowerCase())) continue
      const { status } = await chain.getTransactionReceipt({ hash })
      counts[status === "success" ? "succeeded" : "reverted"] += 1
    }
  }
  return counts
}

const deployed = async () => {
  const owner = await signedInOwner(world)
  const first = await submitAction(world, backendQuote(world, owner), owner.token)
  await completedSwap(world, owner, first.body.result.data.operationId)
  return owner
}

const swap = async (owner: ActingOwner, fromAmount: number) => {
  const answer = await submitAction(world, backendQuote(world, owner, { fromAmount: `${fromAmount}` }), owner.token)
  assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
  return answer.body.result.data.operationId as string
}

describe("one account", () => {
  it("makes eight swaps that are asked for at once, in as many transactions, of which none reverts", async () => {
    const owner = await deployed()
    const block = await chainOf().getBlockNumber({ cacheTime: 0 })
    const asked = await Promise.all(Array.from({ length: 8 }, (_, index) => swap(owner, 200_000_000 + index)))
    for (const operationId of asked) await completedSwap(world, owner, operationId)
    assert.deepStrictEqual(await transactionsSince(block, owner.address), { succeeded: 8, reverted: 0 })
    const sold = Array.from({ length: 8 }, (_, index) => 200_000_000n + BigInt(index)).reduce((sum, raw) => sum + raw)
    assert.strictEqual(await chainBalance(world, owner.vault, "USDC"), 9_000_000_000n - sold)
  })

  it("makes swaps, calls and a rebalance that are asked for at once, each as if it were alone", async () => {
    const owner = await deployed()
    const { guard } = contractAddresses(await Effect.runPromise(loadContracts), catalogChain(base)!)
    const call = async (amount: number) => {
      const data = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [guard as Hex, BigInt(amount)] })
      const calls = { to: tokenAddress(world, "USDC") as Address, data }
      const path = `/portfolio/${owner.portfolioId}/execute`
      const body = { chainId: `${base}`, params: { calls, nonce: `n${amount}` } }
      const answer = await world.api("POST", path, body)
      assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
      return answer.body.data.executionId as string
    }
    await world.api("POST", `/v2/portfolios/${owner.portfolioId}/start`)
    await atRest(world, owner.portfolioId)
    const block = await chainOf().getBlockNumber({ cacheTime: 0 })
    const asked = await Promise.all([
      ...Array.from({ length: 4 }, (_, index) => swap(owner, 100_000_000 + index)),
      ...Array.from({ length: 12 }, (_, index) => call(index + 1)),
      rebalance(world, owner.portfolioId)
    ])
    for (const operationId of asked) {
      const operation = await finishedOperation(world, owner.portfolioId, operationId)
      assert.strictEqual(operation.state, "completed", JSON.stringify(operation))
    }
    assert.strictEqual((await transactionsSince(block, owner.address)).reverted, 0)
  })

  it("goes on in the same order when the service is killed while operations wait for it", async () => {
    const owner = await deployed()
    const block = await chainOf().getBlockNumber({ cacheTime: 0 })
    const asked = await Promise.all(Array.from({ length: 5 }, (_, index) => swap(owner, 300_000_000 + index)))
    await world.control("/faults", { target: "api", mode: "kill" })
    for (const operationId of asked) await completedSwap(world, owner, operationId)
    assert.deepStrictEqual(await transactionsSince(block, owner.address), { succeeded: 5, reverted: 0 })
  })

  it("says in its events that an operation waits for the account", async () => {
    const owner = await deployed()
    const asked = await Promise.all([1, 2, 3].map((index) => swap(owner, 50_000_000 + index)))
    const events = await Promise.all(
      asked.map(async (operationId) => {
        await completedSwap(world, owner, operationId)
        const answer = await world.apiWith({ authorization: `Bearer ${owner.token}` })(
          "POST",
          "/v1/rpc/v2.executions.detail",
          { json: { operationId } }
        )
        assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
        return JSON.stringify(answer.body)
      })
    )
    assert.isAtLeast(events.filter((text) => text.includes("waiting_for_account")).length, 1)
  })
})

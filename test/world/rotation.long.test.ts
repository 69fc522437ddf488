/**
 * Secrets and keys of a service are exchanged as in docs/operations.md, under "Keys and secrets that change", on
 * a world that has a portfolio and goes on.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { createTestClient, encodeFunctionData, type Hex, http, parseAbi, parseEther } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { base as baseChain } from "viem/chains"
import { makeClient } from "#sandbox/chain/Anvil.ts"
import { operator } from "#sandbox/chain/canonical.ts"
import { operate } from "#sandbox/chain/operate.ts"
import {
  chainBalance,
  chainIds,
  createStrategy,
  enroll,
  type EnrolledPortfolio,
  finishedOperation,
  atRest,
  fund,
  rebalance
} from "#test/support/journey.ts"
import { eventually, startWorld, type World, worldFolder } from "#test/support/World.ts"

const noCooldown = { REBALANCE_COOLDOWN_SECONDS: "0" }

let folder: Awaited<ReturnType<typeof worldFolder>>
let world: World

beforeEach(async () => {
  folder = await worldFolder()
  world = await startWorld(folder.dataDir, noCooldown)
})

afterEach(async () => {
  await world?.stop()
  await folder?.remove()
})

const restart = async (environment: Readonly<Record<string, string>>) => {
  await world.stop()
  world = await startWorld(folder.dataDir, { ...noCooldown, ...environment })
}

/** What the world's service was started with first. */
const secret = (name: "agentPrivateKey" | "relayerPrivateKey" | "apiKeyPepper"): string =>
  JSON.parse(readFileSync(join(folder.dataDir, "world.json"), "utf8")).secrets[name]

const account = () => {
  const owner = privateKeyToAccount(generatePrivateKey())
  return {
    ownerAccountId: `eip155:0:${owner.address}`,
    sign: (raw: Hex) => owner.signMessage({ message: { raw } }),
    signTypedData: (typedData: any) => owner.signTypedData(typedData)
  }
}

/** A portfolio that has traded once, and of which nothing is due for a day. */
const traded = async (owner = account()) => {
  const portfolio = await enroll(world, { strategyId: await createStrategy(world), owner })
  await fund(world, portfolio.accounts, 10_000n)
  const first = await finishedOperation(world, portfolio.portfolioId, await rebalance(world, portfolio.portfolioId))
  assert.strictEqual(first.state, "completed", first.error)
  await atRest(world, portfolio.portfolioId)
  return portfolio
}

/** Trades the portfolio once more; answers the transactions' senders. */
const tradesAgain = async ({ accounts, portfolioId }: Awaited<ReturnType<typeof traded>>) => {
  await fund(world, accounts, 10_000n)
  const operation = await finishedOperation(world, portfolioId, await rebalance(world, portfolioId))
  assert.strictEqual(operation.state, "completed", operation.error)
  assert.strictEqual(operation.outcome, "traded")
  const hashes = operation.result.chains.flatMap(({ chainId, transactions }: any) =>
    transactions.map(({ txHash }: any) => ({ chainId, txHash }))
  )
  assert.isNotEmpty(hashes)
  return Promise.all(
    hashes.map(async ({ chainId, txHash }: { chainId: number; txHash: Hex }) => {
      const { result } = await rpc(chainId, "eth_getTransactionByHash", [txHash])
      return String(result.from).toLowerCase()
    })
  )
}

const rpcUrl = (chainId: number) => world.overview.chains.find((chain) => chain.chainId === chainId)!.rpcUrl

const rpc = async (chainId: number, method: string, params: ReadonlyArray<unknown>): Promise<any> => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
  return (
    await fetch(rpcUrl(chainId), { method: "POST", headers: { "content-type": "application/json" }, body })
  ).json()
}

const fundGas = (address: Hex) =>
  Promise.all(
    chainIds.map((chainId) =>
      createTestClient({ mode: "anvil", chain: baseChain, transport: http(rpcUrl(chainId)) }).setBalance({
        address,
        value: parseEther("10")
      })
    )
  )

const status = async (path: string) => (await world.api("GET", path)).status

/** The token of each chain that has no feed: the attestor prices it. */
const attested = { 8453: "SEAM", 42161: "GRAIL" } as const
const guardAbi = parseAbi([
  "function attestor() view returns (address)",
  "function schedule(bytes call)",
  "function setKeys(address administrator, address guardian, address attestor)"
])
const twoDays = 2 * 86_400_000

/** A portfolio of which two fifths are tokens without a feed. */
const attestedPortfolio = async () => {
  const assets = chainIds.flatMap((chainId) => [
    { assetId: world.asset(chainId, "USDC").assetId, weight: "30.00" },
    { assetId: world.asset(chainId, attested[chainId as 8453]).assetId, weight: "20.00" }
  ])
  const body = { name: "Long tail", allocation: { assets }, schedule: { type: "interval", frequency: "weekly" } }
  const answer = await world.api("POST", "/v2/strategies", body)
  assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
  return enroll(world, { strategyId: answer.body.data.strategyId, owner: account() })
}

/** What the accounts hold of the tokens without a feed. */
const holds = ({ accounts }: EnrolledPortfolio) =>
  Promise.all(
    accounts.map((accountId) => chainBalance(world, accountId, attested[Number(accountId.split(":")[1]) as 8453]))
  )

/** Money comes, and a run buys the tokens without a feed on both chains. */
const buysAttested = async (portfolio: EnrolledPortfolio) => {
  const before = await holds(portfolio)
  await fund(world, portfolio.accounts, 1_000n)
  const { portfolioId } = portfolio
  const operation = await finishedOperation(world, portfolioId, await rebalance(world, portfolioId))
  assert.strictEqual(operation.state, "completed", operation.error)
  const after = await holds(portfolio)
  for (const [at, balance] of after.entries())
    assert.isTrue(balance > before[at]!, JSON.stringify({ chain: portfolio.accounts[at], result: operation.result }))
}

const notAttested = () =>
  world
    .serviceLog()
    .split("\n")
    .filter((line) => line.includes("PRICE_NOT_ATTESTED"))

describe("keys and secrets that change", () => {
  it("the pepper: with two at once every key goes on, and then the old one is dropped", async () => {
    const old = secret("apiKeyPepper")
    const next = "n".repeat(64)
    assert.strictEqual(await status("/v2/whoami"), 200)
    await restart({ API_KEY_PEPPER: old, API_KEY_PEPPER_OTHER: next })
    assert.strictEqual(await status("/v2/whoami"), 200)
    await restart({ API_KEY_PEPPER: next, API_KEY_PEPPER_OTHER: old })
    assert.strictEqual(await status("/v2/whoami"), 200)
    await restart({ API_KEY_PEPPER: next })
    assert.strictEqual(await status("/v2/whoami"), 200)
    const [, second] = world.overview.tenants
    const unused = await world.apiWith({ "x-api-key": second!.readOnlyApiKey })("GET", "/v2/whoami")
    assert.strictEqual(unused.status, 401, "a key that was not used while both were accepted is lost, as documented")
  })

  it("the relayer: both accounts work side by side, and then the new one alone", async () => {
    const portfolio = await traded()
    const next = generatePrivateKey()
    const address = privateKeyToAccount(next).address.toLowerCase()
    await fundGas(address as Hex)
    await restart({ RELAYER_PRIVATE_KEYS: `${secret("relayerPrivateKey")},${next}` })
    await tradesAgain(portfolio)
    await restart({ RELAYER_PRIVATE_KEY: next })
    const senders = await tradesAgain(portfolio)
    assert.deepStrictEqual(new Set(senders), new Set([address]))
  })

  it("the attestor: with two keys each guard gets prices that it accepts, while portfolios are rebalanced", async () => {
    const next = generatePrivateKey()
    const { address } = privateKeyToAccount(next)
    await restart({ ATTESTOR_NEXT_PRIVATE_KEY: next })
    const portfolios = await Promise.all([1, 2, 3].map(attestedPortfolio))
    await Promise.all(portfolios.map(buysAttested))
    await Promise.all(portfolios.map(({ portfolioId }) => atRest(world, portfolioId)))

    const { accounts } = (await world.api("GET", `/v2/portfolios/${portfolios[0]!.portfolioId}/policy`)).body.data
    // The world sends as the operator too, at the same time.
    const send = async (data: Hex) => {
      for (const { accountId, chain } of accounts) {
        const chainId = Number(accountId.split(":")[1])
        const call = { what: "change the guard's keys", to: chain.guard.contract, data }
        await Effect.runPromise(operate(makeClient(chainId, rpcUrl(chainId)), call))
      }
    }
    const change = encodeFunctionData({ abi: guardAbi, functionName: "setKeys", args: [operator, operator, address] })
    await send(encodeFunctionData({ abi: guardAbi, functionName: "schedule", args: [change] }))
    await world.control("/clock/advance", { ms: twoDays + 60_000 })
    await Promise.all(portfolios.map(buysAttested))
    assert.deepStrictEqual(notAttested(), [], "the former key, until the change is carried out")

    // Runs that are under way now may meet either key; the next one of each makes up for what a chain refused.
    const underWay = portfolios.map(async ({ accounts, portfolioId }) => {
      await fund(world, accounts, 1_000n)
      return finishedOperation(world, portfolioId, await rebalance(world, portfolioId))
    })
    await Promise.all([send(change), ...underWay])
    await Promise.all(portfolios.map(buysAttested))
    assert.deepStrictEqual(notAttested(), [], "the next key, of the same process")

    await restart({ ATTESTOR_PRIVATE_KEY: next })
    await Promise.all(portfolios.map(buysAttested))
    assert.deepStrictEqual(notAttested(), [], "the next key alone")
  })

  it("the agent: runs wait for owners, and go on with their signature over the new key's permission", async () => {
    const owner = account()
    const portfolio = await traded(owner)
    const next = generatePrivateKey()
    await restart({ AGENT_PRIVATE_KEY: next })
    await fund(world, portfolio.accounts, 10_000n)
    const path = `/v2/portfolios/${portfolio.portfolioId}`
    const operation = async (operationId: string) => {
      const { data } = (await world.api("GET", `${path}/operations/${operationId}`)).body
      assert.notStrictEqual(data.state, "failed", JSON.stringify(data))
      return data
    }
    // A run of the schedule may have begun before the money came: it has nothing to do, and another is asked for.
    const started = async (): Promise<string> => {
      const { body, status } = await world.api("POST", `${path}/rebalance`)
      if (status === 202) return body.data.operationId
      const { activeOperationId } = (await world.api("GET", path)).body.data
      return activeOperationId ?? started()
    }
    let asked = await started()
    const operationId = await eventually("a run waits for its owner", async () => {
      const { outcome, state } = await operation(asked)
      if (state === "awaiting_user") return asked
      if (state === "completed") {
        assert.strictEqual(outcome, "nothing_to_do", "nothing is traded under the old key's permission")
        asked = await started()
      }
      return undefined
    })
    const waiting = await world.api("GET", path)
    assert.include(JSON.stringify(waiting.body.data.attention), "signature_required")
    const issued = (await world.api("POST", `${path}/chains/signature`, { chainIds })).body.data
    assert.strictEqual(
      issued.agentAccountId.split(":").at(-1).toLowerCase(),
      privateKeyToAccount(next).address.toLowerCase()
    )
    const signed = await world.api("POST", `${path}/chains`, {
      flowId: issued.flowId,
      chainIds,
      accountIndex: issued.accountIndex,
      agentAccountId: issued.agentAccountId,
      signature: await owner.sign(issued.message.raw)
    })
    assert.strictEqual(signed.status, 200, JSON.stringify(signed.body))
    await world.control("/clock/advance", { ms: 600_000 })
    const done = await eventually("the run goes on and completes", async () => {
      const now = await operation(operationId)
      return now.state === "completed" ? now : undefined
    })
    assert.strictEqual(done.outcome, "traded", JSON.stringify(done))
  })
})

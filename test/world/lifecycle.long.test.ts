/**
 * An integrator's whole lifecycle on a local world, from key to withdrawal, over the wire and with real signatures: an
 * owner with a key on two chains, one of them activated later, a mirroring tenant, and an owner that is a contract.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { deployContractWallet } from "#test/support/contractWallet.ts"
import {
  createStrategy,
  type EnrolledPortfolio,
  enroll,
  finishedOperation,
  fund,
  newOwner,
  rebalance,
  tokenBalance,
  wethShare
} from "#test/support/journey.ts"
import { eventually, startWorld, type World, worldFolder } from "#test/support/World.ts"

const base = 8453
const arbitrum = 42161

let world: World
let folder: Awaited<ReturnType<typeof worldFolder>>
let strategyId: string
let portfolio: EnrolledPortfolio
const owner = newOwner()

beforeAll(async () => {
  folder = await worldFolder()
  world = await startWorld(folder.dataDir, { REBALANCE_COOLDOWN_SECONDS: "0", VALUATION_INTERVAL_SECONDS: "60" })
})

afterAll(async () => {
  await world?.stop()
  await folder?.remove()
})

/** The data of an answer that must have the status. */
const data = async (
  status: number,
  {
    body,
    key = world.key,
    method,
    path
  }: {
    readonly method: string
    readonly path: string
    readonly body?: unknown | undefined
    readonly key?: string | undefined
  }
) => {
  const answer = await world.apiWith({ "x-api-key": key })(method, path, body)
  assert.strictEqual(answer.status, status, `${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer.body.data
}

const newRecipient = (chainId: number) => {
  const { address } = privateKeyToAccount(generatePrivateKey())
  return { address, accountId: `eip155:${chainId}:${address}` }
}

const accountOn = (chainId: number) => portfolio.accounts.find((id) => id.startsWith(`eip155:${chainId}:`))!

const held = async (portfolioId: string, chainId: number, symbol: string) => {
  const { assets } = await data(200, { method: "GET", path: `/v2/portfolios/${portfolioId}/positions` })
  const { assetId } = world.asset(chainId, symbol)
  return assets.find((row: { readonly assetId: string }) => row.assetId === assetId)
}

const operationDone = async (portfolioId: string, { operationId }: { readonly operationId: string }) => {
  const operation = await finishedOperation(world, portfolioId, operationId)
  assert.strictEqual(operation.state, "completed", JSON.stringify(operation))
  return operation
}

describe("the integrator", () => {
  it("tests the key", async () => {
    const whoami = await data(200, { method: "GET", path: "/v2/whoami" })
    assert.includeMembers(whoami.scopes, ["strategies:write", "portfolios:withdraw", "fees:write"])
  })

  it("sets defaults, creates a strategy and tunes it", async () => {
    await data(200, { method: "PATCH", path: "/v2/tenant/preferences", body: { swap: { slippageBps: 80 } } })
    assert.strictEqual(
      (await data(200, { method: "PATCH", path: "/v2/tenant/fees", body: { swapBps: 15 } })).swapBps,
      15
    )
    strategyId = await createStrategy(world)
    await data(200, {
      method: "PATCH",
      path: `/v2/strategies/${strategyId}`,
      body: { description: "Three fifths ether", isPublic: true }
    })
    await data(200, {
      method: "PUT",
      path: `/v2/strategies/${strategyId}/schedule`,
      body: { type: "interval", frequency: "weekly" }
    })
    const { swap } = await data(200, {
      method: "PATCH",
      path: `/v2/strategies/${strategyId}/preferences`,
      body: {
        swap: { priceImpactBps: 300 }
      }
    })
    assert.deepStrictEqual(swap, { slippageBps: null, priceImpactBps: 300, thresholdUsd: null })
    const { allocation } = await data(200, { method: "GET", path: `/v2/strategies/${strategyId}` })
    const published = await data(201, {
      method: "POST",
      path: `/v2/strategies/${strategyId}/versions`,
      body: {
        allocation,
        changeLog: "Same"
      }
    })
    assert.deepInclude(published, { version: 2, isHead: true, changeLog: "Same" })
    assert.lengthOf((await data(200, { method: "GET", path: `/v2/strategies/${strategyId}/versions` })).versions, 2)
  })

  it("shows the strategy's curve once its prices are known", () =>
    eventually("a curve of two points", async () => {
      const { points, summary } = await data(200, { method: "GET", path: `/v2/strategies/${strategyId}/performance` })
      if (points.length < 2) return undefined
      assert.strictEqual(points[0].percentChange, "0.0000")
      assert.isArray(summary.windows)
      return true
    }))
})

describe("a user with a key", () => {
  it("enrolls on one chain and activates the other later, at the same address", async () => {
    portfolio = await enroll(world, { strategyId, owner }, [base])
    const path = `/v2/portfolios/${portfolio.portfolioId}/chains`
    const issued = await data(200, { method: "POST", path: `${path}/signature`, body: { chainIds: [arbitrum] } })
    const detail = await data(200, {
      method: "POST",
      path,
      body: {
        flowId: issued.flowId,
        chainIds: [arbitrum],
        accountIndex: issued.accountIndex,
        agentAccountId: issued.agentAccountId,
        signature: await owner.sign(issued.message.raw)
      }
    })
    const accounts = detail.smartAccounts.map(({ accountId }: { readonly accountId: string }) => accountId)
    portfolio = { ...portfolio, accounts }
    assert.lengthOf(accounts, 2)
    assert.strictEqual(accountOn(base).split(":")[2], accountOn(arbitrum).split(":")[2])
  })

  it("funds both accounts and is rebalanced on both chains", async () => {
    await fund(world, portfolio.accounts, 10_000n)
    await operationDone(portfolio.portfolioId, { operationId: await rebalance(world, portfolio.portfolioId) })
    for (const account of portfolio.accounts) assert.closeTo(await wethShare(world, account), 0.6, 0.01)
  })

  it("sees what it holds by category", async () => {
    const { assets } = await data(200, { method: "GET", path: `/v2/portfolios/${portfolio.portfolioId}/positions` })
    const holdings = assets.map((row: { readonly assetId: string; readonly valueUsd: string }) => ({
      caipAssetId: row.assetId,
      weight: row.valueUsd
    }))
    const { breakdowns, diagnostics, normalization } = await data(200, {
      method: "POST",
      path: "/v2/assets/allocation-breakdown",
      body: {
        dimensions: ["cryptoCategory"],
        holdings
      }
    })
    assert.lengthOf(breakdowns, 1)
    assert.isAbove(breakdowns[0].buckets.length, 1)
    assert.isEmpty(diagnostics.unresolved)
    assert.match(normalization.normalizedTotal, /^1/)
  })

  it("sees the deposit as a cash flow and no return of its own", () =>
    eventually("the portfolio is valued", async () => {
      await world.control("/clock/advance", { ms: 61_000 })
      const { points } = await data(200, { method: "GET", path: `/v2/portfolios/${portfolio.portfolioId}/performance` })
      const today = points.at(-1)
      if (today === undefined || Number(today.cashFlowUsd) < 19_000) return undefined
      assert.strictEqual(today.isLive, true)
      assert.closeTo(Number(today.valueUsd), 20_000, 200)
      return true
    }))

  it("withdraws the whole of one asset to an address of its choice", async () => {
    const recipient = newRecipient(base)
    const { balanceRaw, assetId } = await held(portfolio.portfolioId, base, "WETH")
    const path = `/v2/portfolios/${portfolio.portfolioId}/withdraw`
    const { typedData } = await data(200, {
      method: "POST",
      path: `${path}/signature`,
      body: {
        recipientAccountId: recipient.accountId,
        assets: [{ assetId, amountRaw: balanceRaw }]
      }
    })
    const body = { message: typedData.message, signature: await owner.signTypedData(typedData) }
    const submitted = await data(202, { method: "POST", path, body })
    assert.deepStrictEqual(await data(202, { method: "POST", path, body }), submitted)
    const operation = await operationDone(portfolio.portfolioId, submitted)
    assert.strictEqual(operation.kind, "withdraw")
    assert.strictEqual(await tokenBalance(world, assetId, recipient.address), BigInt(balanceRaw))
    assert.isUndefined(await held(portfolio.portfolioId, base, "WETH"))
  })

  it("liquidates everything on a chain into dollars", async () => {
    const recipient = newRecipient(arbitrum)
    const path = `/v2/portfolios/${portfolio.portfolioId}/liquidate-all`
    const { typedData } = await data(200, {
      method: "POST",
      path: `${path}/signature`,
      body: { recipientAccountId: recipient.accountId }
    })
    assert.strictEqual(typedData.message.liquidate, true)
    const submitted = await data(202, {
      method: "POST",
      path,
      body: {
        message: typedData.message,
        signature: await owner.signTypedData(typedData)
      }
    })
    await operationDone(portfolio.portfolioId, submitted)
    const received = await tokenBalance(world, world.asset(arbitrum, "USDC").assetId, recipient.address)
    assert.isAbove(Number(received) / 1e6, 9_500)
  })
})

describe("another tenant", () => {
  it("discovers the strategy and mirrors it", async () => {
    const { apiKey } = world.overview.tenants[1]!
    const operator = { authorization: `Bearer ${world.overview.adminToken}` }
    const path = `/v1/admin/strategy-blueprints/${strategyId}/mirrorable`
    assert.strictEqual((await world.apiWith(operator)("PATCH", path, { canMirror: true })).status, 200)
    const listed = await eventually("the strategy is discovered", async () => {
      const { strategies } = await data(200, {
        method: "GET",
        path: "/v2/discovery/strategies?collection=top_performing",
        key: apiKey
      })
      return strategies.find((item: { readonly strategyId: string }) => item.strategyId === strategyId)
    })
    assert.isTrue(listed.canMirror)
    const mirrored = await enroll({ ...world, api: asTenant(apiKey) }, { strategyId, owner: newOwner() }, [base])
    const detail = await data(200, { method: "GET", path: `/v2/portfolios/${mirrored.portfolioId}`, key: apiKey })
    assert.strictEqual(detail.strategyId, strategyId)
    await world
      .api("GET", `/v2/portfolios/${mirrored.portfolioId}`)
      .then(({ status }) => assert.strictEqual(status, 404))
  })
})

const asTenant = (apiKey: string): World["api"] => world.apiWith({ "x-api-key": apiKey })

describe("a user whose wallet is a contract", () => {
  it("enrolls, is rebalanced and withdraws by signatures that the contract accepts", async () => {
    const { rpcUrl } = world.overview.chains.find(({ chainId }) => chainId === base)!
    const wallet = await deployContractWallet(rpcUrl)
    const draft = {
      ownerAccountId: `eip155:0:${wallet.address}`,
      strategyId,
      chainIds: [base],
      accountType: "ERC1271"
    }
    const issued = await data(200, { method: "POST", path: "/v2/enroll/signature", body: draft })
    assert.strictEqual(issued.message.kind, "typed-data")
    const enrolled = await data(201, {
      method: "POST",
      path: "/v2/enroll",
      body: {
        ...draft,
        flowId: issued.flowId,
        accountIndex: issued.accountIndex,
        agentAccountId: issued.agentAccountId,
        signature: await wallet.signTypedData(issued.message.typedData)
      }
    })
    const [{ accountId }] = enrolled.smartAccounts
    await fund(world, [accountId], 5_000n)
    await operationDone(enrolled.portfolioId, { operationId: await rebalance(world, enrolled.portfolioId) })
    assert.closeTo(await wethShare(world, accountId), 0.6, 0.01)

    const recipient = newRecipient(base)
    const { balanceRaw, assetId } = await held(enrolled.portfolioId, base, "USDC")
    const path = `/v2/portfolios/${enrolled.portfolioId}/withdraw`
    const { typedData } = await data(200, {
      method: "POST",
      path: `${path}/signature`,
      body: {
        recipientAccountId: recipient.accountId,
        assets: [{ assetId, amountRaw: balanceRaw }]
      }
    })
    const submitted = await data(202, {
      method: "POST",
      path,
      body: {
        message: typedData.message,
        signature: await wallet.signTypedData(typedData)
      }
    })
    await operationDone(enrolled.portfolioId, submitted)
    assert.strictEqual(await tokenBalance(world, assetId, recipient.address), BigInt(balanceRaw))
  })
})

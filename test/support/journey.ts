/** The steps that an integrator and a user take, over the wire, with real signatures. */
import { createPublicClient, erc20Abi, http, type Hex, parseAbiItem } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { canonical } from "#sandbox/chain/canonical.ts"
import { type Answer, eventually, type World } from "#test/support/World.ts"

export const chainIds = [8453, 42161]

export const newOwner = () => {
  const account = privateKeyToAccount(generatePrivateKey())
  return {
    ownerAccountId: `eip155:0:${account.address}`,
    sign: (raw: Hex) => account.signMessage({ message: { raw } }),
    /** Signs typed data as the API answered it. */
    signTypedData: (typedData: any): Promise<Hex> => account.signTypedData(typedData)
  }
}

export type Owner = ReturnType<typeof newOwner>

const expectStatus = (answer: Answer, status: number) => {
  if (answer.status !== status)
    throw new Error(`Expected ${status}, got ${answer.status}: ${JSON.stringify(answer.body)}`)
  return answer.body.data
}

/** 30 percent WETH and 20 percent USDC on each of the two chains. */
export const createStrategy = async (world: World): Promise<string> => {
  const weights = [
    ["WETH", "30.00"],
    ["USDC", "20.00"]
  ] as const
  const assets = chainIds.flatMap((chainId) =>
    weights.map(([symbol, weight]) => ({ assetId: world.asset(chainId, symbol).assetId, weight }))
  )
  const body = { name: "Halves", allocation: { assets }, schedule: { type: "interval", frequency: "daily" } }
  return expectStatus(await world.api("POST", "/v2/strategies", body), 201).strategyId
}

export interface EnrolledPortfolio {
  readonly portfolioId: string
  readonly accounts: ReadonlyArray<string>
  /** The stage-2 body, to be sent again. */
  readonly request: Record<string, unknown>
}

export const enroll = async (
  world: World,
  { owner, strategyId }: { readonly strategyId: string; readonly owner: Owner },
  chains = chainIds
): Promise<EnrolledPortfolio> => {
  const draft = { ownerAccountId: owner.ownerAccountId, strategyId, chainIds: chains }
  const issued = expectStatus(await world.api("POST", "/v2/enroll/signature", draft), 200)
  const { flowId, accountIndex, agentAccountId, message } = issued
  const request = { ...draft, flowId, accountIndex, agentAccountId, signature: await owner.sign(message.raw) }
  const enrolled = expectStatus(await world.api("POST", "/v2/enroll", request), 201)
  return {
    portfolioId: enrolled.portfolioId,
    accounts: enrolled.smartAccounts.map(({ accountId }: { accountId: string }) => accountId),
    request
  }
}

/** Mints whole tokens of USDC to each account. */
export const fund = async (world: World, accounts: ReadonlyArray<string>, usdc: bigint): Promise<void> => {
  for (const accountId of accounts) {
    const { assetId } = world.asset(Number(accountId.split(":")[1]), "USDC")
    const answer = await world.control("/faucet", { accountId, assetId, amountRaw: `${usdc * 1_000_000n}` })
    if (answer.status !== 200) throw new Error(`The faucet answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  }
}

export const rebalance = async (world: World, portfolioId: string): Promise<string> =>
  expectStatus(await world.api("POST", `/v2/portfolios/${portfolioId}/rebalance`), 202).operationId

export const finishedOperation = (world: World, portfolioId: string, operationId: string) =>
  eventually(`operation ${operationId} ends`, async () => {
    const answer = await world
      .api("GET", `/v2/portfolios/${portfolioId}/operations/${operationId}`)
      .catch(() => undefined)
    const operation = answer?.status === 200 ? answer.body.data : undefined
    return ["completed", "failed", "cancelled"].includes(operation?.state) ? operation : undefined
  })

/** Waits until nothing of the portfolio is due by then or under way, and answers when it is due next. */
export const settled = (world: World, portfolioId: string, { by }: { by: number }) =>
  eventually(`portfolio ${portfolioId} is not due`, async () => {
    const { body, status } = await world.api("GET", `/v2/portfolios/${portfolioId}`)
    if (status !== 200) return undefined
    const dueAt = Date.parse(body.data.schedule.nextDueAt)
    return body.data.activeOperationId === null && dueAt > by ? dueAt : undefined
  })

/**
 * Waits until nothing of the portfolio is under way or due within the hour. The first run of the schedule comes some
 * seconds after enrollment; while it is unfinished it is answered in place of a manual run, and may have read before
 * money came or the market moved.
 */
export const atRest = async (world: World, portfolioId: string): Promise<void> => {
  const hour = 3_600_000
  const { now } = (await (await fetch(world.controlUrl)).json()) as { readonly now: number }
  await settled(world, portfolioId, { by: now + hour })
}

/** Balance of an address on the asset's chain, in raw units. */
export const tokenBalance = (world: World, assetId: string, address: string): Promise<bigint> => {
  const [, chainId] = /^eip155:(\d+)\/erc20:/.exec(assetId)!
  const { rpcUrl } = world.overview.chains.find((chain) => chain.chainId === Number(chainId))!
  return createPublicClient({ transport: http(rpcUrl) }).readContract({
    address: assetId.slice(assetId.lastIndexOf(":") + 1) as Hex,
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [address as Hex]
  })
}

/** Balance of a smart account on its chain, in raw units. */
export const chainBalance = (world: World, accountId: string, symbol: string): Promise<bigint> => {
  const [, chainId, address] = accountId.split(":")
  return tokenBalance(world, world.asset(Number(chainId), symbol).assetId, address!)
}

/** Share of the account's value that is WETH, at the world's present prices; only WETH and USDC are counted. */
export const wethShare = async (world: World, accountId: string, wethPrice = 2500): Promise<number> => {
  const weth = (Number(await chainBalance(world, accountId, "WETH")) / 1e18) * wethPrice
  const usdc = Number(await chainBalance(world, accountId, "USDC")) / 1e6
  return weth / (weth + usdc)
}

const inclusionEvent = parseAbiItem(
  "event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)"
)

/** How many operations of each account its chain has included. */
export const included = (world: World, accounts: ReadonlyArray<string>): Promise<ReadonlyArray<number>> =>
  Promise.all(
    accounts.map(async (accountId) => {
      const [, chainId, address] = accountId.split(":")
      const { rpcUrl } = world.overview.chains.find((chain) => `${chain.chainId}` === chainId)!
      const logs = await createPublicClient({ transport: http(rpcUrl) }).getLogs({
        address: canonical.entryPoint as Hex,
        event: inclusionEvent,
        args: { sender: address as Hex },
        fromBlock: 0n
      })
      return logs.length
    })
  )

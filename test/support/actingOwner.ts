/** An owner of a world whose wallet has a session, and what owners ask for over the interface's wire. */
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { createSiweMessage } from "viem/siwe"
import { assert } from "vitest"
import { chainIds, createStrategy, enroll, finishedOperation, fund } from "#test/support/journey.ts"
import type { World } from "#test/support/World.ts"

/** The chain on which they act. */
export const actingChain = 8453

export const callProcedure = async (
  world: World,
  procedure: string,
  { body, token }: { readonly body: unknown; readonly token?: string | undefined }
) => {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return world.apiWith(headers)("POST", `/v1/rpc/${procedure}`, body)
}

interface Enrolled {
  readonly strategyId: string
  readonly chains: ReadonlyArray<number>
}

/** An owner with 10,000 USDC in each account, whose wallet has a session; automation is paused. */
export const signedInOwner = async (world: World, enrolled?: Enrolled) => {
  const account = privateKeyToAccount(generatePrivateKey())
  const owner = {
    ownerAccountId: `eip155:0:${account.address}`,
    sign: (raw: `0x${string}`) => account.signMessage({ message: { raw } }),
    signTypedData: (typedData: any) => account.signTypedData(typedData)
  }
  const { chains = chainIds, strategyId = await createStrategy(world) } = enrolled ?? {}
  const portfolio = await enroll(world, { strategyId, owner }, [...chains])
  await world.api("POST", `/v2/portfolios/${portfolio.portfolioId}/stop`)
  await fund(world, portfolio.accounts, 10_000n)
  const { nonce } = (await callProcedure(world, "identity.nonce", { body: { json: {} } })).body.result.data.json
  const { host } = new URL(world.overview.apiBaseUrl)
  const message = createSiweMessage({
    address: account.address,
    chainId: actingChain,
    domain: host,
    uri: world.overview.apiBaseUrl,
    version: "1",
    nonce,
    issuedAt: new Date(world.overview.now)
  })
  const signature = await account.signMessage({ message })
  const answer = await callProcedure(world, "identity.signIn", { body: { json: { message, signature } } })
  assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
  const [vault] = portfolio.accounts
  return {
    ...portfolio,
    sign: owner.sign,
    signTypedData: owner.signTypedData,
    signText: (text: string) => account.signMessage({ message: text }),
    vault: vault!,
    address: vault!.split(":")[2]!,
    token: answer.body.result.data.json.token as string
  }
}

export type ActingOwner = Awaited<ReturnType<typeof signedInOwner>>

export const tokenAddress = (world: World, symbol: string): string =>
  world.asset(actingChain, symbol).assetId.split(":").at(-1)!

/** A swap of 1,000 USDC into ether that the service quotes. */
export const backendQuote = (
  world: World,
  { address, portfolioId }: ActingOwner,
  changes: Record<string, unknown> = {}
) => ({
  portfolioId,
  kind: "swap_backend_quote",
  params: {
    fromChainId: `${actingChain}`,
    fromTokenAddress: tokenAddress(world, "USDC"),
    fromAmount: "1000000000",
    toChainId: `${actingChain}`,
    toTokenAddress: tokenAddress(world, "WETH"),
    toAddress: address,
    ...changes
  }
})

/** What LI.FI's SDK would hold: routes of USDC into ether that the stand-in quotes for the account, best first. */
export const quotedRoutes = async (
  world: World,
  { address }: ActingOwner,
  fromAmount: string
): Promise<ReadonlyArray<any>> => {
  const answer = await world.control("/lifi/v1/advanced/routes", {
    fromChainId: actingChain,
    toChainId: actingChain,
    fromTokenAddress: tokenAddress(world, "USDC"),
    toTokenAddress: tokenAddress(world, "WETH"),
    fromAmount,
    fromAddress: address,
    toAddress: address
  })
  assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
  return answer.body.routes
}

export const clientSwap = ({ portfolioId }: ActingOwner, route: unknown, params: Record<string, unknown> = {}) => ({
  portfolioId,
  kind: "swap",
  params: { chainId: `${actingChain}`, route, ...params }
})

export const submitAction = (world: World, input: unknown, token: string) =>
  callProcedure(world, "v2.portfolio.actions.submit", { body: { input }, token })

/** Waits until a swap has traded. */
export const completedSwap = async (world: World, owner: ActingOwner, operationId: string) => {
  const operation = await finishedOperation(world, owner.portfolioId, operationId)
  assert.strictEqual(operation.state, "completed", JSON.stringify(operation))
  assert.strictEqual(operation.outcome, "traded", JSON.stringify(operation))
  assert.strictEqual(operation.kind, "swap")
  return operation
}

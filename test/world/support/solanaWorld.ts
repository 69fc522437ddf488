/** A world with a tenant that may use Solana, and what its clients and owners do there. */
import { getAssociatedTokenAddressSync } from "@solana/spl-token"
import { type Keypair, PublicKey } from "@solana/web3.js"
import type { PrivateKeyAccount } from "viem/accounts"
import { assert } from "vitest"
import * as Base58 from "#domain/values/Base58.ts"
import { addressOf, solanaChainId, solanaReference, type WalletId } from "#domain/values/Caip.ts"
import * as Ed25519 from "#layers/solana/ed25519.ts"
import { agentRoleText } from "#layers/solana/enrollment/agentRoleText.ts"
import { type EvmWallet, signIssued } from "#test/layers/solana/owners.ts"
import * as Journey from "#test/support/journey.ts"
import { eventually, startWorld, type World, worldFolder } from "#test/support/World.ts"

export let world: World
let folder: Awaited<ReturnType<typeof worldFolder>>
/** Key of the tenant that may use Solana. */
let key: string

export const start = async () => {
  folder = await worldFolder()
  world = await startWorld(folder.dataDir, { REBALANCE_COOLDOWN_SECONDS: "0", VALUATION_INTERVAL_SECONDS: "60" })
  key = world.overview.tenants.find(({ name }) => name === "Contoso")!.apiKey
}

export const stop = async () => {
  await world?.stop()
  await folder?.remove()
}

export const call = (method: string, path: string, body?: unknown) =>
  world.apiWith({ "x-api-key": key })(method, path, body)

/** The data of an answer that must have the status. */
export const data = async (
  status: number,
  { body, method, path }: { readonly method: string; readonly path: string; readonly body?: unknown | undefined }
) => {
  const answer = await call(method, path, body)
  assert.strictEqual(answer.status, status, `${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer.body.data
}

/** What is refused, and by which field. */
export const refused = async (path: string, body: unknown, field: string) => {
  const answer = await call("POST", path, body)
  assert.strictEqual(answer.status, 400, JSON.stringify(answer.body))
  assert.isTrue(
    answer.body.error.details.some((detail: string) => detail.startsWith(`${field}: `)),
    JSON.stringify(answer.body)
  )
}

export const asset = (symbol: string) => world.asset(solanaChainId, symbol)

/** Half in each of two assets, dollars and Jupiter's token on Solana where none are named. */
export const newStrategy = async (halves = [asset("USDC").assetId, asset("JUP").assetId]) => {
  const body = {
    name: "Half and half",
    allocation: { assets: halves.map((assetId) => ({ assetId, weight: "50" })) },
    schedule: { type: "interval", frequency: "daily" }
  }
  return (await data(201, { method: "POST", path: "/v2/strategies", body })).strategyId as string
}

export const idOf = ({ publicKey }: Keypair) => `solana:${solanaReference}:${publicKey.toBase58()}`

export const begin = async (ownerAccountId: string, strategyId: string) => {
  const draft = { ownerAccountId, strategyId, chainIds: [solanaChainId] }
  const issued = await data(200, { method: "POST", path: "/v2/enroll/signature", body: draft })
  const { accountIndex, agentAccountId, flowId } = issued
  return { issued, body: { ...draft, flowId, accountIndex, agentAccountId } }
}

/** A portfolio of the same tenant on an EVM chain. */
export const enrollOnBase = async ({ address, signMessage }: PrivateKeyAccount, strategyId: string) => {
  const draft = { ownerAccountId: `eip155:0:${address}`, strategyId, chainIds: [8453] }
  const issued = await data(200, { method: "POST", path: "/v2/enroll/signature", body: draft })
  const { accountIndex, agentAccountId, flowId, message } = issued
  const signature = await signMessage({ message: { raw: message.raw } })
  const body = { ...draft, flowId, accountIndex, agentAccountId, signature }
  const { portfolioId, smartAccounts } = await data(201, { method: "POST", path: "/v2/enroll", body })
  return { portfolioId: portfolioId as string, accountId: smartAccounts[0].accountId as string }
}

/** The body of stage 2 of an owner with a Solana key. */
export const signed = async (owner: Keypair, strategyId: string) => {
  const { body, issued } = await begin(idOf(owner), strategyId)
  return { issued, body: { ...body, signedSolanaTransaction: signIssued(issued.solanaTransaction, owner) } }
}

export const rpc = async (method: string, params: ReadonlyArray<unknown>) => {
  const { rpcUrl } = world.overview.chains.find(({ chainId }) => chainId === solanaChainId)!
  const response = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
  })
  return ((await response.json()) as { readonly result: any }).result
}

/** What an EVM wallet adds to the body, at the slot of now. */
export const signatureOfRole = async (owner: EvmWallet, issued: any) => {
  const slot = await rpc("getSlot", [{ commitment: "confirmed" }])
  const text = agentRoleText({
    agent: new PublicKey(addressOf(issued.agentAccountId as WalletId)),
    wallet: new PublicKey(addressOf(issued.walletAccountId as WalletId)),
    slot: BigInt(slot),
    odometer: issued.odometer
  })
  return { userSecp256k1PublicKey: owner.publicKey, signature: await owner.sign(text), currentSlot: slot }
}

export const portfoliosOf = async (owner: string) =>
  (await data(200, { method: "GET", path: `/v2/portfolios?ownerAccountId=${encodeURIComponent(owner)}` }))
    .portfolios as ReadonlyArray<any>

export const faucet = async (accountId: string, symbol: string, amountRaw: bigint) => {
  const gift = { accountId, assetId: asset(symbol).assetId, amountRaw: String(amountRaw) }
  assert.strictEqual((await world.control("/faucet", gift)).status, 200)
}

/** Newest first. */
export const operationsOf = async (portfolioId: string): Promise<ReadonlyArray<any>> =>
  (await data(200, { method: "GET", path: `/v2/portfolios/${portfolioId}/operations` })).operations

/** Waits until nothing of the portfolio is under way or due within the hour. */
export const atRest = (portfolioId: string) => Journey.atRest({ ...world, api: call }, portfolioId)

const positionsOf = async (portfolioId: string): Promise<ReadonlyArray<any>> =>
  (await data(200, { method: "GET", path: `/v2/portfolios/${portfolioId}/positions` })).assets

export const position = (portfolioId: string, symbol: string) =>
  eventually(`positions show ${symbol}`, async () =>
    (await positionsOf(portfolioId)).find((row) => row.symbol === symbol)
  )

export const balances = async (portfolioId: string) =>
  new Map((await positionsOf(portfolioId)).map(({ balanceRaw, symbol }) => [symbol as string, BigInt(balanceRaw)]))

/** The operation once it has ended. */
export const ended = (portfolioId: string, operationId: string): Promise<any> =>
  eventually(`operation ${operationId} ends`, async () => {
    const operation = await call("GET", `/v2/portfolios/${portfolioId}/operations/${operationId}`).catch(
      () => undefined
    )
    const shown = operation?.body.data
    return ["completed", "failed", "cancelled"].includes(shown?.state) ? shown : undefined
  })

/** Half of the value in each asset, within two percent of the whole. */
export const nearHalf = (portfolioId: string) =>
  eventually("positions are at their targets", async () => {
    const values = (await positionsOf(portfolioId)).map(({ valueUsd }) => Number(valueUsd))
    const total = values.reduce((sum, value) => sum + value, 0)
    return values.length === 2 && values.every((value) => Math.abs(value / total - 0.5) < 0.02) ? true : undefined
  })

export const signedText = (key: Keypair, text: string) =>
  Base58.encode(Ed25519.sign(key.secretKey.slice(0, 32), new TextEncoder().encode(text)))

export const tokenBalance = async (owner: PublicKey, assetId: string) => {
  const mint = new PublicKey(assetId.split(":").at(-1)!)
  const account = getAssociatedTokenAddressSync(mint, owner, true)
  const { value } = await rpc("getAccountInfo", [account.toBase58(), { encoding: "base64" }])
  return Buffer.from(value.data[0], "base64").readBigUInt64LE(64)
}

export const landing = async (mode: string) =>
  assert.strictEqual((await world.control("/faults", { target: "landing", mode })).status, 200)

/** What is sent and lost shows nowhere: it has been after this time, the same bytes more than once. */
export const untilSent = () => new Promise((done) => setTimeout(done, 1_500))

/** `kill -9` of the service while a stage 2 waits for the chain; answers when the service is back. */
export const dieIn = async (body: unknown) => {
  const answer = call("POST", "/v2/enroll", body).catch(() => undefined)
  await untilSent()
  assert.strictEqual((await world.control("/faults", { target: "api", mode: "kill" })).status, 200)
  assert.isUndefined(await answer)
  await eventually("the service is back", async () =>
    (await world.api("GET", "/health/ready").catch(() => undefined))?.status === 200 ? true : undefined
  )
}

/** Sends the same until it is no longer in progress: the claim of the process that died ends after 30 seconds. */
export const goOn = (body: unknown) =>
  eventually("stage 2 goes on", async () => {
    const answer = await call("POST", "/v2/enroll", body)
    return answer.status === 409 && answer.body.error.code === "API_007" ? undefined : answer
  })

/** A rebalance while Jupiter is down ends with its name; the portfolio is brought to its target once it answers. */
export const waitsForJupiter = async (portfolioId: string, accountId: string) => {
  await atRest(portfolioId)
  await faucet(accountId, "USDC", 400_000_000n)
  const jupiter = async (mode: string) =>
    assert.strictEqual((await world.control("/faults", { target: "jupiter", mode })).status, 200)
  await jupiter("down")
  const { operationId } = await data(202, { method: "POST", path: `/v2/portfolios/${portfolioId}/rebalance` })
  const { result } = await ended(portfolioId, operationId)
  const skip = result.chains[0].skips.find(({ code }: any) => code === "CHAIN_UNAVAILABLE")
  assert.include(skip.reason, "Jupiter")
  await jupiter("ok")
  await world.control("/clock/advance", { ms: 3_600_000 })
  await nearHalf(portfolioId)
}

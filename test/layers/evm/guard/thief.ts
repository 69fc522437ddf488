/** What whoever holds the agent's key of an account under the guard tries, and what the account is worth then. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type Address, encodeFunctionData, erc20Abi, type Hex, pad, parseAbi } from "viem"
import type { ChainId, EvmAddress } from "#domain/values/Caip.ts"
import { fromViem } from "#layers/evm/address.ts"
import { priceDigest } from "#layers/evm/attestation/priceDigest.ts"
import { tradeGuardAbi } from "#layers/evm/tradeGuard.ts"
import { revertReason } from "#layers/evm/revert/revertReason.ts"
import { type Chain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { setRoutePools } from "#sandbox/chain/routePools.ts"
import { transact } from "#test/solidity/routedSwaps.ts"
import {
  attestor,
  batchOf,
  type Enrollment,
  enroll,
  execute,
  fund,
  quotedSwap,
  stranger
} from "#test/layers/evm/EvmWorld.ts"
import { agentAccount } from "#test/layers/evm/account/sdkAccount.ts"
import { type Call, submitAlone } from "#test/layers/evm/relay/selfSubmitted.ts"

export const deadline = 10n ** 12n
export const unlimited = 2n ** 256n - 1n

export const liquidityAbi = parseAbi([
  "function addLiquidity(address a, address b, uint256 amountA, uint256 amountB, uint256 minA, uint256 minB, address to, uint256 deadline)"
])

export const addressOf = (chain: Chain, symbol: string) => tokenBySymbol(chain, symbol).address

export const held = (chain: Chain, symbol: string, owner: Address) =>
  Effect.promise(() =>
    chain.client.readContract({
      address: addressOf(chain, symbol),
      abi: erc20Abi,
      functionName: "balanceOf",
      args: [owner]
    })
  )

/** Values an account by the sandbox's prices, in US dollars of 18 decimals. */
export const worth = Effect.fnUntraced(function* (chain: Chain, owner: Address) {
  const values = yield* Effect.forEach(chain.tokens, (token) =>
    Effect.map(
      held(chain, token.symbol, owner),
      (raw) => (raw * chain.prices.price(token.assetId)) / 10n ** BigInt(token.decimals)
    )
  )
  return values.reduce((sum, value) => sum + value, 0n)
})

export const approve = (chain: Chain, symbol: string, spender: Address): Call => ({
  to: addressOf(chain, symbol),
  data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, unlimited] })
})

export interface Attempt {
  readonly sell: string
  readonly buy: string
  readonly amount: bigint
  readonly venue: Address
  readonly route: Hex
}

export const attestedToken = "SEAM"

/** A price of the token without a feed, by whoever has the attestor's key. */
export const attest = (chain: Chain, price: bigint) =>
  Effect.promise(async () => {
    const time = Number((await chain.client.getBlock()).timestamp)
    const domain = { chainId: chain.chainId as ChainId, guard: chain.contracts.guard as string as EvmAddress }
    const said = { token: addressOf(chain, attestedToken) as string as EvmAddress, price, time }
    return { price, time, signature: await attestor.sign({ hash: priceDigest(domain, said) }) }
  })

export type Signed = Effect.Success<ReturnType<typeof attest>>

export const trade = (
  chain: Chain,
  { amount, buy, route, sell, venue }: Attempt,
  signed: ReadonlyArray<Signed> = []
): Call => {
  // All that the account may hold: the more is listed, the smaller the share that a loss is.
  const tokens = chain.tokens
    .filter(({ isAttested }) => !isAttested || [sell, buy].includes(attestedToken))
    .map(({ address }) => address)
    .toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
  const order = {
    venue,
    sell: tokens.indexOf(addressOf(chain, sell)),
    buy: tokens.indexOf(addressOf(chain, buy)),
    amount,
    minOut: 0n,
    route
  }
  return {
    to: chain.contracts.guard,
    data: encodeFunctionData({
      abi: tradeGuardAbi,
      functionName: "trade",
      args: [tokens, [order], { prices: signed, proofs: [] }, deadline]
    })
  }
}

/** What becomes of calls that the thief signs with the agent's key and submits himself. */
export const attempt = (chain: Chain, enrollment: Enrollment, calls: ReadonlyArray<Call>) =>
  Effect.promise(async () => {
    const agent = await agentAccount(chain, enrollment)
    const answer = await submitAlone(
      chain,
      agent,
      await agent.encodeCalls(calls.map((call) => ({ value: 0n, ...call })))
    )
    if (answer._tag === "Included") return "included"
    return answer._tag === "Refused" ? answer.reason : revertReason(answer.data)
  })

export const enrolled = Effect.fnUntraced(function* (chain: Chain, index: bigint) {
  const enrollment = yield* enroll(index, [[chain, "USDC", "WETH", "AERO", "cbBTC"]])
  const account = enrollment.account as string as Address
  yield* fund(chain, enrollment.account, { symbol: "USDC", raw: 1_000_000_000n })
  yield* fund(chain, enrollment.account, { symbol: "AERO", raw: 1_000n * 10n ** 18n })
  const { receipt } = yield* execute(
    batchOf(enrollment, chain, [yield* quotedSwap(chain, { sell: "USDC", buy: "WETH", sellAmountRaw: 100_000_000n })])
  )
  return { enrollment, account, receipt }
})

/** A pool of two tokens that the thief founds with a few raw units, in the venue's own factory. */
export const foundPool = Effect.fnUntraced(function* (chain: Chain, a: string, b: string) {
  const { router } = chain.contracts
  for (const symbol of [a, b]) {
    yield* fund(chain, fromViem(stranger.address), { symbol, raw: 1_000_000n })
    yield* transact(chain, stranger, { to: addressOf(chain, symbol), data: approve(chain, symbol, router).data })
  }
  const { status } = yield* transact(chain, stranger, {
    to: router,
    data: encodeFunctionData({
      abi: liquidityAbi,
      functionName: "addLiquidity",
      args: [addressOf(chain, a), addressOf(chain, b), 2_000n, 2_000n, 0n, 0n, stranger.address, deadline]
    })
  })
  assert.strictEqual(status, "success")
})

/** What the guard is asked to send to Arbitrum over the pool of Across's kind. */
export const send = (
  { arbitrum, base }: { readonly base: Chain; readonly arbitrum: Chain },
  { amount, minOut }: { readonly amount: bigint; readonly minOut: bigint }
): Call => {
  const tokens = base.tokens
    .filter(({ isAttested }) => !isAttested)
    .map(({ address }) => address)
    .toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
  const order = {
    bridge: base.contracts.bridge,
    token: tokens.indexOf(addressOf(base, "USDC")),
    amount,
    chainId: BigInt(arbitrum.chainId),
    remoteToken: pad(addressOf(arbitrum, "USDC")),
    minOut
  }
  return {
    to: base.contracts.guard,
    data: encodeFunctionData({
      abi: tradeGuardAbi,
      functionName: "send",
      args: [tokens, order, { prices: [], proofs: [] }, deadline]
    })
  }
}

/** Pools of the thief's, which pay a share of the world's price in hundredths of a percent. */
export const pay = (chain: Chain, { buy, sell }: { readonly sell: string; readonly buy: string }, bps: bigint) =>
  setRoutePools(chain, [tokenBySymbol(chain, sell), tokenBySymbol(chain, buy)], ({ assetId, symbol }) =>
    symbol === buy ? (chain.prices.price(assetId) * 10_000n) / bps : chain.prices.price(assetId)
  )

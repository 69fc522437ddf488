/**
 * The calls by which an account trades, sells for a withdrawal and sends through the guard: an exact allowance for each
 * token that leaves, one call for all swaps, and one for each transfer.
 */
import { type Address, erc20Abi, type Hex, pad } from "viem"
import { type AssetId, chainIdOf, type EvmAddress } from "#domain/values/Caip.ts"
import type { TradeGuardPolicy } from "#domain/account/Authorization.ts"
import type { SignedPrice } from "#domain/attestation/PriceAttestor.ts"
import type { LiquidationPayout } from "#domain/trading/SwapBatches.ts"
import type { ReadySwap } from "#domain/trading/Swap.ts"
import type { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import { closedProof } from "#layers/evm/account/closedList.ts"
import { assetsOnChain } from "#layers/evm/account/executorCalls.ts"
import { callDataOf } from "#layers/evm/callData.ts"
import { addressOf, evmExecution, toViem } from "#layers/evm/address.ts"
import type { Call } from "#layers/evm/rpc/aggregate.ts"
import { runnerOf, tradeGuardAbi } from "#layers/evm/tradeGuard.ts"
import { guardedRoute } from "#layers/evm/venue/uniswapV2Calls.ts"

export interface GuardTerms {
  readonly guard: TradeGuardPolicy
  readonly router: EvmAddress
  /** The provider's contract that routes are calldata for; undefined where the deployment has none. */
  readonly routeTarget: EvmAddress | undefined
  /** Seconds since 1970 by the chain's clock. */
  readonly deadline: bigint
  /** Attested prices of tokens that have no feed on the chain. */
  readonly attested: ReadonlyMap<EvmAddress, SignedPrice>
}

const approve = callDataOf(erc20Abi, "approve")
const trade = callDataOf(tradeGuardAbi, "trade")
const liquidate = callDataOf(tradeGuardAbi, "liquidate")
const send = callDataOf(tradeGuardAbi, "send")

const approval = (guard: EvmAddress, token: EvmAddress, amountRaw: bigint): Call => ({
  target: toViem(token),
  data: approve(toViem(guard), amountRaw)
})

/** Each token once, ascending, as the guard requires. */
const listedOf = (assets: ReadonlyArray<AssetId>): ReadonlyArray<EvmAddress> =>
  [...new Set(assets.map(addressOf))].toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))

const soldOf = (swaps: ReadonlyArray<ReadySwap>): ReadonlyMap<EvmAddress, bigint> => {
  const sold = new Map<EvmAddress, bigint>()
  for (const { sell, sellAmountRaw } of swaps) {
    const token = addressOf(sell)
    sold.set(token, (sold.get(token) ?? 0n) + sellAmountRaw)
  }
  return sold
}

/** The attested prices of the listed tokens, in the order in which the guard uses them up. */
const pricesOf = (listed: ReadonlyArray<EvmAddress>, { attested }: GuardTerms) =>
  listed.flatMap((token) => {
    const known = attested.get(token)
    return known === undefined ? [] : [{ price: known.price, time: known.time, signature: known.signature as Hex }]
  })

/** What is wrong with a swap's route where the guard passes it; undefined when nothing is. */
export const guardRouteFault = (
  swap: ReadySwap,
  guard: TradeGuardPolicy,
  { issuer, routeTarget }: { readonly routeTarget: EvmAddress | undefined; readonly issuer: EvmAddress | undefined }
): string | undefined => {
  const { call, direct } = evmExecution(swap)
  if (direct !== undefined && direct.venue !== issuer)
    return `the deployment trades with the issuer's contract ${issuer ?? "of no address"}, not ${direct.venue}`
  if (call === undefined) return undefined
  const runner = runnerOf(guard.contract)
  if (call.contract !== runner) return `routes of this account deliver to ${runner}, not ${call.contract}`
  return routeTarget === undefined ? "the deployment has no contract for routes" : undefined
}

/** What `trade` and `liquidate` have in common: the listed tokens, the trades, and what proves them. */
const tradesFor = (swaps: ReadonlyArray<ReadySwap>, terms: GuardTerms) => {
  const { guard, routeTarget, router } = terms
  const listed = listedOf(swaps.flatMap(({ buy, sell }) => [sell, buy]))
  const place = (asset: AssetId) => listed.indexOf(addressOf(asset))
  const trades = swaps.map((swap) => {
    const { buy, minBuyAmountRaw, sell, sellAmountRaw } = swap
    const { call, direct } = evmExecution(swap)
    return {
      venue: toViem(direct?.venue ?? (call === undefined ? router : routeTarget!)),
      sell: place(sell),
      buy: place(buy),
      amount: sellAmountRaw,
      minOut: minBuyAmountRaw,
      route: ((direct ?? call)?.data as Hex | undefined) ?? guardedRoute(swap)
    }
  })
  const { closedTokens } = guard
  const evidence = {
    prices: pricesOf(listed, terms),
    proofs: closedTokens === undefined ? [] : swaps.map(({ buy }) => closedProof(closedTokens, addressOf(buy)))
  }
  return { listed: listed.map((token): Address => toViem(token)), trades, evidence }
}

const approvals = (swaps: ReadonlyArray<ReadySwap>, guard: EvmAddress) =>
  [...soldOf(swaps)].map(([token, amount]) => approval(guard, token, amount))

export const guardedSwaps = (swaps: ReadonlyArray<ReadySwap>, terms: GuardTerms): ReadonlyArray<Call> => {
  if (swaps.length === 0) return []
  const { deadline, guard } = terms
  const { evidence, listed, trades } = tradesFor(swaps, terms)
  return [
    ...approvals(swaps, guard.contract),
    { target: toViem(guard.contract), data: trade(listed, trades, evidence, deadline) }
  ]
}

/** The sales of a withdrawal, which the withdrawal executor's `settle` has to follow at once. */
export const guardedLiquidation = (
  swaps: ReadonlyArray<ReadySwap>,
  { assetId, keepRaw, message }: LiquidationPayout,
  terms: GuardTerms
): ReadonlyArray<Call> => {
  const { deadline, guard } = terms
  const { evidence, listed, trades } = tradesFor(swaps, terms)
  const payout = { assets: assetsOnChain(message), token: toViem(addressOf(assetId)), keep: keepRaw }
  return [
    ...approvals(swaps, guard.contract),
    { target: toViem(guard.contract), data: liquidate(payout, listed, trades, evidence, deadline) }
  ]
}

export const guardedTransfer = (
  { amountRaw, bridgeAddress, buy, minRaw, sell }: OutgoingTransfer,
  terms: GuardTerms
): ReadonlyArray<Call> => {
  const { deadline, guard } = terms
  const token = addressOf(sell)
  const transfer = {
    bridge: toViem(bridgeAddress),
    token: 0,
    amount: amountRaw,
    chainId: BigInt(chainIdOf(buy)),
    remoteToken: pad(toViem(addressOf(buy))),
    minOut: minRaw
  }
  const { closedTokens } = guard
  const evidence = {
    prices: pricesOf([token], terms),
    proofs: closedTokens === undefined ? [] : [closedProof(closedTokens, token)]
  }
  return [
    approval(guard.contract, token, amountRaw),
    {
      target: toViem(guard.contract),
      data: send([toViem(token)], transfer, evidence, deadline)
    }
  ]
}

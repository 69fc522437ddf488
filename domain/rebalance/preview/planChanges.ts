/**
 * What makes a plan another one than the previewed: pure.
 *
 * Prices move all the time, so a plan is the same as long as it trades the same pairs, each amount within the slippage
 * that the portfolio accepts, and each at a price that the previewed minimum would have taken.
 */
import type { AssetId } from "#domain/values/Caip.ts"
import { expectedOf, type PreviewedChain, type PreviewedPlan } from "#domain/rebalance/preview/Preview.ts"

const bps = 10_000n

/** One amount for another, of a swap or a transfer. */
interface TradedPair {
  readonly sell: AssetId
  readonly buy: AssetId
  readonly soldRaw: bigint
  readonly expectedRaw: bigint
  readonly minOutRaw: bigint
}

/** One trade over two paths. */
const together = (one: TradedPair, other: TradedPair): TradedPair => ({
  ...one,
  soldRaw: one.soldRaw + other.soldRaw,
  expectedRaw: one.expectedRaw + other.expectedRaw,
  minOutRaw: one.minOutRaw + other.minOutRaw
})

const tradedPairsOf = ({ swaps, transfers }: PreviewedChain): ReadonlyMap<string, TradedPair> => {
  const all = [
    ...swaps.map((swap) => ({
      sell: swap.sell,
      buy: swap.buy,
      soldRaw: swap.sellAmountRaw,
      expectedRaw: expectedOf(swap),
      minOutRaw: swap.minBuyAmountRaw
    })),
    ...transfers.map(({ amountRaw, buy, expectedRaw, minRaw, sell }) => ({
      sell,
      buy,
      soldRaw: amountRaw,
      expectedRaw,
      minOutRaw: minRaw
    }))
  ]
  const pairs = new Map<string, TradedPair>()
  for (const one of all) {
    const key = `${one.sell} ${one.buy}`
    const sum = pairs.get(key)
    pairs.set(key, sum === undefined ? one : together(sum, one))
  }
  return pairs
}

const named = ({ buy, sell }: TradedPair) => `${sell} for ${buy}`

/** Why the exchange as it would be made now is not the previewed one; null when it is. */
const changeOf = (before: TradedPair, now: TradedPair, slippageBps: bigint): string | null => {
  const moved = now.soldRaw > before.soldRaw ? now.soldRaw - before.soldRaw : before.soldRaw - now.soldRaw
  if (moved * bps > before.soldRaw * slippageBps) {
    return `${named(now)} would sell ${now.soldRaw}, and ${before.soldRaw} in the preview`
  }
  // Held against the minimum's price, since the amounts differ: expected / sold < minOut / sold before.
  if (now.expectedRaw * before.soldRaw < before.minOutRaw * now.soldRaw) {
    return `${named(now)} would yield ${now.expectedRaw} for ${now.soldRaw}: less than the minimum of the preview, ${before.minOutRaw} for ${before.soldRaw}`
  }
  return null
}

const chainChanges = (before: PreviewedChain, now: PreviewedChain, slippageBps: bigint): ReadonlyArray<string> => {
  const [planned, current] = [tradedPairsOf(before), tradedPairsOf(now)]
  const gone = [...planned].filter(([key]) => !current.has(key)).map(([, one]) => `${named(one)} would not be made now`)
  const others = [...current].flatMap(([key, one]) => {
    const previewed = planned.get(key)
    if (previewed === undefined) return [`${named(one)} was not in the preview`]
    return changeOf(previewed, one, slippageBps) ?? []
  })
  const outcome =
    before.outcome === now.outcome || gone.length + others.length > 0
      ? []
      : [`the outcome would be ${now.outcome}, and ${before.outcome} in the preview`]
  return [...gone, ...others, ...outcome].map((text) => `chain ${now.chainId}: ${text}`)
}

const empty = (chainId: PreviewedChain["chainId"]): PreviewedChain => ({
  chainId,
  outcome: "nothing",
  swaps: [],
  transfers: [],
  skips: [],
  reason: null,
  gas: null
})

/** Sentences that say what would differ; none when the plan is still the previewed one. */
export const planChanges = (before: PreviewedPlan, now: PreviewedPlan): ReadonlyArray<string> => {
  const chainIds = new Set([...before.chains, ...now.chains].map(({ chainId }) => chainId))
  const on = ({ chains }: PreviewedPlan, chainId: PreviewedChain["chainId"]) =>
    chains.find((chain) => chain.chainId === chainId) ?? empty(chainId)
  return [
    ...(before.strategyVersion === now.strategyVersion
      ? []
      : [`the strategy is at version ${now.strategyVersion}, and was at ${before.strategyVersion} in the preview`]),
    ...[...chainIds].flatMap((chainId) =>
      chainChanges(on(before, chainId), on(now, chainId), BigInt(before.slippageBps))
    )
  ]
}

/**
 * A rebalance policy as a plan applies it: the policy that was resolved for the portfolio, and what was measured for
 * it.
 */
import type { AssetId, ChainId } from "#domain/values/Caip.ts"
import type { Band, TradeTo } from "#domain/mandate/RebalancePolicy.ts"

/** What the gas of a chain costs, US dollars (wad). */
export interface ChainGas {
  /** One operation of the account, its deployment included where it has no code yet. */
  readonly operationUsd: bigint
  /** Each swap in it. */
  readonly swapUsd: bigint
}

export interface PlanPolicy {
  readonly band: Band
  readonly overrides: ReadonlyMap<AssetId, Band>
  /** Undefined: the edge, and for automatic bands whichever costs less. */
  readonly tradeTo: TradeTo | undefined
  /** Minimum swap, US dollars (wad); the threshold of the preferences holds beside it. */
  readonly minTradeUsd: bigint
  /** Minimum swap of what is sold for good because it is no target, several of them together; US dollars (wad). */
  readonly minSweepUsd: bigint
  /** How many times the gas of a swap its value must be at least; zero: any. */
  readonly minGasMultiple: bigint
  /** All assets are traded to their targets as soon as one is outside of its band. */
  readonly isWhole: boolean
  /** Most that the plan may cost, US dollars (wad); undefined: no limit. */
  readonly maxCostUsd?: bigint
  /**
   * Gas by chain. A chain without an entry is not known: nothing is counted for it, and figures of its costs say so.
   */
  readonly gas: ReadonlyMap<ChainId, ChainGas>
  /** Standard deviation of a year's return (wad) by asset; without an entry `defaultVolatility` is assumed. */
  readonly volatility: ReadonlyMap<AssetId, bigint>
  /** Seconds until the portfolio is checked again. */
  readonly secondsToNextCheck: number
  /** What slippage is expected to take of a swap beside its quote, in basis points. */
  readonly reserveBps: number
  /** What swaps of a pair really cost, as quoted, in billionths of what is sold; by `pairOf`. Others: its chain fee. */
  readonly pairCosts?: ReadonlyMap<string, number>
  /** The pairs that were quoted, by `pairOf`: they are traded again as long as they are what is needed. */
  readonly pairs?: ReadonlySet<string>
  /** What buying each asset costs so, over all that it was to be bought for. */
  readonly buyingCosts?: ReadonlyMap<AssetId, number>
}

/** Minimum swap on a chain, US dollars (wad): the threshold, the policy's own, and its multiple of a swap's gas. */
export const minTradeUsd = (
  thresholdUsd: bigint,
  { gas, minGasMultiple, minTradeUsd }: PlanPolicy,
  chainId: ChainId
): bigint =>
  [minTradeUsd, (gas.get(chainId)?.swapUsd ?? 0n) * minGasMultiple].reduce(
    (most, usd) => (usd > most ? usd : most),
    thresholdUsd
  )

/** Volatility of an asset without a history: that of a volatile coin. Standard deviation of a year's return (wad). */
export const defaultVolatility = 800_000_000_000_000_000n

/** Key of a pair in `pairCosts`. */
export const pairOf = (sell: AssetId, buy: AssetId): string => `${sell}>${buy}`

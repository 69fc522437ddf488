/** Small portfolios for the planner's examples: round prices, so that values can be read off. */
import { type AssetId, type ChainId, erc20, type EvmAddress } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { ChainPlan, ChainHoldings, Holding, Leg, Plan, PlanInput } from "#domain/planning/Plan.ts"
import { plan } from "#domain/planning/planRebalance.ts"

export const base = 8453 as ChainId
export const mainnet = 1 as ChainId

export const usd = (text: string): bigint => Decimal.parse(text)!

const on = (chainId: ChainId, digit: string): AssetId => erc20(chainId, `0x${digit.repeat(40)}` as EvmAddress)

export const usdc = on(base, "1")
export const weth = on(base, "2")
export const wbtc = on(base, "3")
export const dai = on(base, "4")
export const spare = on(base, "5")
export const mainnetUsdc = on(mainnet, "1")
export const mainnetDai = on(mainnet, "4")

/** A token of 6 decimals worth one dollar, held to that many dollars unless the options differ. */
export const held = (assetId: AssetId, dollars: number, but: Partial<Holding> = {}): Holding => ({
  assetId,
  decimals: 6,
  balanceRaw: BigInt(dollars) * 1_000_000n,
  priceUsd: Decimal.one,
  priceIsStale: false,
  isBlocked: false,
  isAuthorized: true,
  ...but
})

export const chain = (holdings: ReadonlyArray<Holding>, chainId: ChainId = base): ChainHoldings => ({
  chainId,
  available: true,
  holdings
})

interface Options {
  readonly threshold?: string
  readonly feeBps?: number
}

export const input = (
  chains: ReadonlyArray<ChainHoldings>,
  weights: ReadonlyArray<readonly [AssetId, number]>,
  { feeBps = 0, threshold = "5" }: Options = {}
): PlanInput => ({
  chains,
  allocation: weights.map(([assetId, percent]) => ({ assetId, weight: percent * 100 })),
  preferences: { thresholdUsd: usd(threshold) },
  feeBps
})

/** Plans one chain. */
export const planOne = (
  holdings: ReadonlyArray<Holding>,
  weights: ReadonlyArray<readonly [AssetId, number]>,
  options?: Options
): ChainPlan => onlyChain(plan(input([chain(holdings)], weights, options)))

export const onlyChain = (planned: Plan): ChainPlan => planned.chains[0]!

/** Legs as `[sell, buy, dollars]`. */
export const trades = (legs: ReadonlyArray<Leg>) =>
  legs.map((leg) => [leg.sell, leg.buy, Decimal.format(leg.valueUsd, 2)] as const)

/** Skips as `[asset, code, dollars]`. */
export const skipped = ({ skips }: ChainPlan) =>
  skips.map(
    ({ assetId, code, valueUsd }) => [assetId, code, valueUsd === null ? null : Decimal.format(valueUsd, 2)] as const
  )

/**
 * How long the rebalance planner takes for one portfolio: 10, 50, 100 and 1,000 assets over three chains, all off
 * target.
 */
import { type AssetId, type ChainId, erc20, type EvmAddress } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { Holding, PlanInput } from "#domain/planning/Plan.ts"
import { plan } from "#domain/planning/planRebalance.ts"

const chainIds = [1, 10, 8453].map((id) => id as ChainId)
const sizes = [10, 50, 100, 1_000]
const warmUpPlans = 2_000
const rounds = 15
const roundMillis = 60
const batchPlans = 5

const assetAt = (index: number): AssetId =>
  erc20(chainIds[index % chainIds.length]!, `0x${(index + 1).toString(16).padStart(40, "0")}` as EvmAddress)

/** A fixed spread of decimals, prices and deviations; every tenth asset is held without being a target. */
const holdingAt = (index: number, targetUsd: bigint): Holding => {
  const decimals = [18, 6, 8][index % 3]!
  const priceUsd = (Decimal.one * BigInt([1, 3_417, 96_381, 7][index % 4]!)) / BigInt([1, 1, 1, 1_000][index % 4]!)
  const percentHeld = BigInt(40 + ((index * 37) % 121))
  return {
    assetId: assetAt(index),
    decimals,
    balanceRaw: (targetUsd * percentHeld * 10n ** BigInt(decimals)) / (100n * priceUsd),
    priceUsd,
    priceIsStale: false,
    isBlocked: false,
    isAuthorized: true
  }
}

const portfolioOf = (assets: number): PlanInput => {
  const targets = Array.from({ length: assets }, (_, index) => index).filter((index) => index % 10 !== 9)
  const weight = Math.floor(10_000 / targets.length)
  const holdings = Array.from({ length: assets }, (_, index) => holdingAt(index, 1_000n * Decimal.one))
  return {
    chains: chainIds.map((chainId, at) => ({
      chainId,
      available: true,
      holdings: holdings.filter((_, index) => index % chainIds.length === at)
    })),
    allocation: targets.map((index, at) => ({
      assetId: assetAt(index),
      weight: at === 0 ? 10_000 - weight * (targets.length - 1) : weight
    })),
    preferences: { thresholdUsd: 5n * Decimal.one },
    feeBps: 35
  }
}

/** Microseconds a plan in one round of about `roundMillis`. */
const measureRound = (input: PlanInput): number => {
  const start = performance.now()
  let plans = 0
  let elapsed = 0
  while (elapsed < roundMillis) {
    for (let batch = 0; batch < batchPlans; batch += 1) plan(input)
    plans += batchPlans
    elapsed = performance.now() - start
  }
  return (elapsed * 1_000) / plans
}

const row = (cells: ReadonlyArray<string>): string => cells.map((cell) => cell.padStart(12)).join("")

/** Prints microseconds a plan (minimum, median and maximum of the rounds) and plans a second at the median. */
export const run = async (): Promise<void> => {
  console.log(row(["assets", "legs", "min us", "median us", "max us", "plans/s"]))
  for (const assets of sizes) {
    const input = portfolioOf(assets)
    for (let warmUp = 0; warmUp < warmUpPlans / Math.max(1, assets / 100); warmUp += 1) plan(input)
    const legs = plan(input).chains.reduce((sum, chain) => sum + chain.legs.length, 0)
    const micros = Array.from({ length: rounds }, () => measureRound(input)).sort((a, b) => a - b)
    const median = micros[Math.floor(rounds / 2)]!
    console.log(
      row([
        String(assets),
        String(legs),
        micros[0]!.toFixed(1),
        median.toFixed(1),
        micros[rounds - 1]!.toFixed(1),
        Math.round(1_000_000 / median).toLocaleString("en-US")
      ])
    )
  }
}

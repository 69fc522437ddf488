/**
 * Follows one rule along a path of prices, and counts what it costs and how far it lets the portfolio drift. Pure, and
 * exact in money.
 */
import * as Decimal from "#domain/values/Decimal.ts"

/**
 * Value moved from one asset to another, each by its index in the allocation; US dollars (wad) at the prices of the
 * step.
 */
export interface Trade {
  readonly from: number
  readonly to: number
  readonly usd: bigint
}

/** What trading costs: a share of what is sold, and US dollars (wad) a swap. */
export interface TradingCosts {
  readonly feeBps: number
  readonly gasUsd: bigint
}

/** Decides at a step, from what each asset is worth then, US dollars (wad); made anew for each path. */
export type Rule = (step: number, valuesUsd: ReadonlyArray<bigint>) => ReadonlyArray<Trade>

/** Where a path begins: on target, at these prices. */
export interface StartingPortfolio {
  /** Targets, basis points; they sum to 10,000. */
  readonly weights: ReadonlyArray<number>
  /** US dollars (wad), like the prices of whole tokens. */
  readonly valueUsd: bigint
  readonly prices: ReadonlyArray<bigint>
}

export interface Outcome {
  readonly costUsd: bigint
  /** Sums over the trades, each as a share of the portfolio at its step: costs, and what is sold. Billionths. */
  readonly costNano: bigint
  readonly turnoverNano: bigint
  readonly trades: number
  /** Root of the mean squared deviation of a weight, as it stands at each step before anything is traded. */
  readonly error: number
}

export interface Walk {
  /** Trades by the rule at these prices; answers what the portfolio is worth before that. */
  readonly advance: (prices: ReadonlyArray<bigint>) => bigint
  readonly outcome: () => Outcome
}

const bps = 10_000n
const billion = 1_000_000_000n

export const followRule = (
  rule: Rule,
  { prices: first, valueUsd, weights }: StartingPortfolio,
  costs: TradingCosts
): Walk => {
  const amounts = weights.map((weight, index) => (valueUsd * BigInt(weight) * Decimal.one) / (bps * first[index]!))
  let costUsd = 0n
  let costNano = 0n
  let turnoverNano = 0n
  let trades = 0
  let squares = 0
  let steps = 0

  const advance = (prices: ReadonlyArray<bigint>): bigint => {
    const values = amounts.map((amount, index) => (amount * prices[index]!) / Decimal.one)
    const totalUsd = values.reduce((sum, value) => sum + value, 0n)
    steps += 1
    // Costs have used all of it up: there is nothing left to trade, nor to be off target.
    if (totalUsd <= 0n) return 0n
    for (const [index, weight] of weights.entries()) {
      squares += (Number((values[index]! * billion) / totalUsd) / 1e9 - weight / 10_000) ** 2
    }
    for (const { from, to, usd } of rule(steps - 1, values)) {
      const cost = (usd * BigInt(costs.feeBps)) / bps + costs.gasUsd
      amounts[from]! -= (usd * Decimal.one) / prices[from]!
      // Gas is paid out of what is bought, so that every rule bears it alike.
      amounts[to]! += ((usd - cost) * Decimal.one) / prices[to]!
      costUsd += cost
      costNano += (cost * billion) / totalUsd
      turnoverNano += (usd * billion) / totalUsd
      trades += 1
    }
    return totalUsd
  }

  return {
    advance,
    outcome: () => ({ costUsd, costNano, turnoverNano, trades, error: Math.sqrt(squares / (steps * weights.length)) })
  }
}

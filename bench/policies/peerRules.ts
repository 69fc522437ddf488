/**
 * What others do, as they document it. All trade every holding back to its target once they trade at all.
 *
 * Alpaca: a drift band, absolute or relative, and a cooldown in days
 * (https://docs.alpaca.markets/docs/portfolio-rebalancing). Composer: a corridor in percentage points around each
 * weight, checked once a day (https://help.composer.trade/article/76-threshold-trading).
 */
import { assets } from "#bench/policies/paths.ts"
import { toNumber, wad } from "#bench/policies/simulate.ts"
import type { Rule, Trade } from "#domain/backtest/followRule.ts"

const targets = assets.map(({ weight }) => weight / 10_000)
const day = 24

/** The largest surplus meets the largest lack, until all are on target. */
const toTargets = (values: ReadonlyArray<number>): ReadonlyArray<Trade> => {
  const total = values.reduce((sum, value) => sum + value, 0)
  const open = values.map((value, index) => value - total * targets[index]!)
  const trades: Array<Trade> = []
  for (;;) {
    const from = open.indexOf(Math.max(...open))
    const to = open.indexOf(Math.min(...open))
    const usd = Math.min(open[from]!, -open[to]!)
    if (usd < 0.01) return trades
    trades.push({ from, to, usd: wad(usd) })
    open[from]! -= usd
    open[to]! += usd
  }
}

/**
 * Trades when a weight is off by more than `isOff` allows, every so many hours, and not for a while after it traded.
 */
const whenOff =
  (isOff: (deviation: number, target: number) => boolean, everyHours: number, cooldownDays = 0) =>
  (): Rule => {
    let restUntil = 0
    return (hour, valuesUsd) => {
      if ((hour + 1) % everyHours !== 0 || hour < restUntil) return []
      const values = valuesUsd.map(toNumber)
      const total = values.reduce((sum, value) => sum + value, 0)
      if (!values.some((value, index) => isOff(Math.abs(value / total - targets[index]!), targets[index]!))) return []
      restUntil = hour + cooldownDays * day
      return toTargets(values)
    }
  }

export interface Peer {
  readonly name: string
  readonly make: () => Rule
}

export const peers: ReadonlyArray<Peer> = [
  { name: "exact target, hourly", make: whenOff(() => true, 1) },
  { name: "exact target, daily", make: whenOff(() => true, day) },
  { name: "bands of 5 points, daily (also Composer at 5)", make: whenOff((off) => off > 0.05, day) },
  { name: "Composer at 2 points, daily", make: whenOff((off) => off > 0.02, day) },
  { name: "Alpaca, 5 points, cooldown of 7 days", make: whenOff((off) => off > 0.05, 1, 7) },
  { name: "Alpaca, 10 % relative, cooldown of 2 days", make: whenOff((off, target) => off > 0.1 * target, 1, 2) }
]

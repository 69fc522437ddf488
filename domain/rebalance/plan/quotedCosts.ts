/**
 * Plans, has the plan quoted, puts what each pair really costs into the plan and plans again: what a plan expects of
 * its swaps is then what they pay, and the next one finds nothing left to do.
 */
import { Effect } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"
import type { ChainPlan, Holding, Leg, Plan, PlanInput } from "#domain/planning/Plan.ts"
import { pairOf } from "#domain/planning/PlanPolicy.ts"
import { plan } from "#domain/planning/planRebalance.ts"
import type { Quote } from "#domain/trading/Venue.ts"

/** Rounds of quotes; each changes amounts by a fraction of what the one before did. */
const maxRounds = 3
const billion = 1_000_000_000n
/** No swap that is made costs or gains more; a quote with more is of a broken market. */
const maxCost = 500_000_000n
/** Legs that differ by less than this part of the minimum trade are the same, as a divisor. */
const sameParts = 50n

/**
 * What a swap at its quote costs by the prices of the input, in billionths of what is sold; below zero where it pays
 * more.
 */
const costOfQuote = (leg: Leg, quote: Quote, holdings: ReadonlyMap<AssetId, Holding>): number | undefined => {
  const [sell, buy] = [holdings.get(leg.sell), holdings.get(leg.buy)]
  if (!sell?.priceUsd || !buy?.priceUsd) return undefined
  const soldRaw = quote.sellAmountRaw ?? leg.sellAmountRaw
  const sold = soldRaw * sell.priceUsd * 10n ** BigInt(buy.decimals)
  const bought = quote.buyAmountRaw * buy.priceUsd * 10n ** BigInt(sell.decimals)
  if (sold <= 0n) return undefined
  const cost = ((sold - bought) * billion) / sold
  return Number(cost > maxCost ? maxCost : cost < -maxCost ? -maxCost : cost)
}

const isSame = (one: Plan, other: Plan, marginUsd: bigint): boolean =>
  one.chains.every(({ legs }, at) => {
    const others = other.chains[at]!.legs
    return (
      legs.length === others.length &&
      legs.every(({ buy, sell, valueUsd }) => {
        const twin = others.find((leg) => leg.sell === sell && leg.buy === buy)
        const difference = twin === undefined ? marginUsd + 1n : twin.valueUsd - valueUsd
        return difference <= marginUsd && -difference <= marginUsd
      })
    )
  })

const pairsOf = ({ chains }: Plan): ReadonlySet<string> =>
  new Set(chains.flatMap(({ legs }) => legs.map(({ buy, sell }) => pairOf(sell, buy))))

/** The input with the costs at which its plan holds; `quote` returns those of the legs of a chain, in their order. */
export const withQuotedCosts = Effect.fnUntraced(function* (
  input: PlanInput,
  quote: (chain: ChainPlan) => Effect.Effect<ReadonlyArray<Quote | null>>
) {
  if (input.policy === undefined) return input
  const holdings = new Map(input.chains.flatMap((chain) => chain.holdings.map((one) => [one.assetId, one] as const)))
  const costs = new Map<string, number>()
  const marginUsd = input.preferences.thresholdUsd / sameParts
  let known = input
  let planned = plan(input)
  for (let round = 1; round <= maxRounds; round += 1) {
    const trading = planned.chains.filter(({ legs }) => legs.length > 0)
    if (trading.length === 0) break
    const quotes = yield* Effect.forEach(trading, quote, { concurrency: "unbounded" })
    const bought = new Map<AssetId, { usd: number; lostUsd: number }>()
    for (const [at, { legs }] of trading.entries()) {
      for (const [index, leg] of legs.entries()) {
        const found = quotes[at]![index]
        const cost = found && costOfQuote(leg, found, holdings)
        if (cost === undefined || cost === null) continue
        costs.set(pairOf(leg.sell, leg.buy), cost)
        const { lostUsd, usd } = bought.get(leg.buy) ?? { usd: 0, lostUsd: 0 }
        const value = Number(leg.valueUsd)
        bought.set(leg.buy, { usd: usd + value, lostUsd: lostUsd + value * cost })
      }
    }
    const buyingCosts = new Map([...bought].map(([buy, { lostUsd, usd }]) => [buy, Math.round(lostUsd / usd)] as const))
    known = { ...input, policy: { ...input.policy, pairCosts: new Map(costs), pairs: pairsOf(planned), buyingCosts } }
    const next = plan(known)
    if (isSame(planned, next, marginUsd)) break
    planned = next
  }
  return known
})

/**
 * What the leg yields at the prices of the input after the venue's fee, whatever its quote: limits of loss are held
 * against it.
 */
export const promisedRaw = (leg: Leg, holdings: ReadonlyArray<Holding>, feeBps: number): bigint => {
  const [sell, buy] = [leg.sell, leg.buy].map((assetId) => holdings.find((one) => one.assetId === assetId)) as [
    Holding,
    Holding
  ]
  return (
    (leg.sellAmountRaw * sell.priceUsd! * BigInt(10_000 - feeBps) * 10n ** BigInt(buy.decimals)) /
    (10n ** BigInt(sell.decimals) * 10_000n * buy.priceUsd!)
  )
}

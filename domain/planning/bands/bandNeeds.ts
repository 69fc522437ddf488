/**
 * What a chain has to sell and to buy for every asset to be inside of its band.
 *
 * What is outside goes to the edge of its band, or as far inside as the policy sets. What that sells and buys seldom
 * matches, and the difference is made up by assets that are off their targets the other way, the farthest first and
 * none past its target by more than the minimum trade: so it brings them closer too. What stands inside and is not
 * needed is left alone.
 */
import type { Drift } from "#domain/planning/bands/drift.ts"
import type { Imbalance, OpenPositions } from "#domain/planning/legs/imbalances.ts"
import type { PlanPosition } from "#domain/planning/PlanPosition.ts"
import type { Tolerance } from "#domain/planning/Tolerance.ts"
import type { PolicyTerms } from "#domain/planning/bands/PolicyTerms.ts"
import { billion, type TradeCosts } from "#domain/planning/bands/tradeCost.ts"

interface Need {
  readonly drift: Drift
  /**
   * Value to be sold when positive; when negative, value that has to be sold to buy what it lacks. US dollars (wad).
   */
  readonly usd: bigint
}

const absolute = (value: bigint): bigint => (value < 0n ? -value : value)

const mayTrade = ({ excessUsd, position }: Drift): boolean => (excessUsd > 0n ? position.canSell : position.canBuy)

/**
 * Outside of its band by more than the minimum trade, by a margin, so that what one plan leaves does not start the
 * next.
 */
const isOutside = (drift: Drift, { marginUsd, tradeUsd }: Tolerance): boolean => {
  const { excessUsd, goalUsd, halfUsd, position } = drift
  if (!mayTrade(drift)) return false
  const magnitude = absolute(excessUsd)
  return position.valueUsd < 0n || (magnitude > halfUsd && magnitude - goalUsd >= tradeUsd + marginUsd)
}

/** What has to be sold to buy `usd` of the asset. */
const paidFor = ({ assetId }: PlanPosition, usd: bigint, costs: TradeCosts): bigint =>
  (usd * billion) / (billion - costs.ofBuying(assetId))

/** What brings an asset `excessUsd` off its target onto it. */
const toTarget = ({ excessUsd, position }: Drift, costs: TradeCosts): bigint =>
  excessUsd > 0n ? excessUsd : -paidFor(position, -excessUsd, costs)

const forced = ({ excessUsd, goalUsd, position }: Drift, costs: TradeCosts): bigint => {
  if (excessUsd > 0n) return excessUsd - goalUsd
  const gap = -excessUsd - goalUsd
  // What is to leave the chain and is not held yet has to be bought, whatever the band allows.
  return -paidFor(position, position.valueUsd < -gap ? -position.valueUsd : gap > 0n ? gap : 0n, costs)
}

/** The farthest first. Without costs, which quotes change: the choice must not. */
const byExcess = (a: Need, b: Need): number => {
  const [left, right] = [absolute(a.drift.excessUsd), absolute(b.drift.excessUsd)]
  if (left !== right) return left > right ? -1 : 1
  return a.drift.position.assetId < b.drift.position.assetId ? -1 : 1
}

/**
 * The needs once `netUsd` (sold above bought when positive) is made up by what is off target the other way, the
 * farthest first.
 */
const balanced = (
  needs: ReadonlyArray<Need>,
  netUsd: bigint,
  { costs, tolerance }: PolicyTerms
): ReadonlyArray<Need> => {
  const { marginUsd, tradeUsd } = tolerance
  const sign = netUsd > 0n ? -1n : 1n
  const room = ({ drift, usd }: Need): bigint => sign * (toTarget(drift, costs) - usd)
  const others = needs.filter((need) => mayTrade(need.drift) && room(need) > marginUsd).toSorted(byExcess)
  const changed = new Map<Drift, bigint>()
  let openUsd = absolute(netUsd)
  for (const need of others) {
    if (openUsd < marginUsd) break
    // The minimum trade may take one a little past its target; a piece below it is no trade of its own, and is left.
    const minUsd = need.usd === 0n && room(need) < tradeUsd ? tradeUsd : room(need)
    const usd = minUsd < openUsd ? minUsd : openUsd
    if (need.usd === 0n && usd < tradeUsd) break
    changed.set(need.drift, need.usd + sign * usd)
    openUsd -= usd
  }
  return needs.map(({ drift, usd }) => ({ drift, usd: changed.get(drift) ?? usd }))
}

const open = ({ drift: { position }, usd }: Need): Imbalance => ({ position, openUsd: absolute(usd) })

/** Nothing on either side when every asset is inside of its band. */
export const bandNeeds = (drifts: ReadonlyArray<Drift>, terms: PolicyTerms): OpenPositions => {
  const {
    costs,
    policy: { isWhole },
    tolerance
  } = terms
  const outside = new Set(drifts.filter((drift) => isOutside(drift, tolerance)))
  if (outside.size === 0) return { sellers: [], buyers: [], mismatchUsd: 0n }
  const needs = drifts.map((drift): Need => ({
    drift,
    usd: isWhole && mayTrade(drift) ? toTarget(drift, costs) : outside.has(drift) ? forced(drift, costs) : 0n
  }))
  const netUsd = needs.reduce((sum, { usd }) => sum + usd, 0n)
  const isBalanced = isWhole || absolute(netUsd) < tolerance.marginUsd
  const wanted = (isBalanced ? needs : balanced(needs, netUsd, terms)).filter(
    ({ usd }) => absolute(usd) >= tolerance.marginUsd
  )
  const sellers = wanted.filter(({ usd }) => usd > 0n).map(open)
  const buyers = wanted.filter(({ usd }) => usd < 0n).map(open)
  const total = (side: ReadonlyArray<Imbalance>) => side.reduce((sum, { openUsd }) => sum + openUsd, 0n)
  return { sellers, buyers, mismatchUsd: absolute(total(sellers) - total(buyers)) }
}

/** Describes what a policy leaves undone on a chain, with the figures that decided it. */
import type { ChainId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { Worth } from "#domain/planning/bands/costGate.ts"
import type { PolicyRebalance } from "#domain/planning/bands/rebalanceWithin.ts"
import { type Skip, SkipCode } from "#domain/values/Skip.ts"

const dollars = (usd: bigint): string => `${Decimal.format(usd, 4)} USD`

const gasUnknown = "gas not included, which is not known now"

const gasPart = ({ gasUsd, isGasUnknown = false }: Worth): string =>
  isGasUnknown ? gasUnknown : `gas of ${dollars(gasUsd)} included`

const waiting = "they wait until the drift is worth more, or trading costs less"

/** The skip for trades that are not worth their cost. */
export const notWorthCost = (chainId: ChainId, worth: Worth): Skip => ({
  chainId,
  assetId: null,
  code: SkipCode.notWorthCost,
  valueUsd: worth.costUsd,
  reason: [
    `The trades would remove drift worth ${dollars(worth.benefitUsd)} and cost ${dollars(worth.costUsd)}`,
    `${gasPart(worth)}: ${waiting}.`
  ].join(", ")
})

export const policySkips = (
  chainId: ChainId,
  { beyondLimit, unworthy }: Pick<PolicyRebalance, "beyondLimit" | "unworthy">
): ReadonlyArray<Skip> => {
  const skips: Array<Skip> = []
  if (unworthy !== undefined) skips.push(notWorthCost(chainId, unworthy))
  if (beyondLimit !== undefined) {
    const { costUsd, isGasUnknown = false, limitUsd, usd } = beyondLimit
    const cost = isGasUnknown ? `${dollars(costUsd)}, ${gasUnknown}` : dollars(costUsd)
    const reason = `All trades would cost ${cost}, and the policy leaves ${dollars(limitUsd)} for this chain now: trades of ${dollars(usd)} are left to later runs.`
    skips.push({ chainId, assetId: null, code: SkipCode.costLimit, valueUsd: usd, reason })
  }
  return skips
}

import * as Decimal from "#domain/Decimal.ts"
import type { Estimate } from "#layers/routing/lifi/wire.ts"

/** What a step costs beside what it takes of the amount, or why that is not acceptable, as the end of a sentence. */
export const costsOf = ({ feeCosts = [], gasCosts = [] }: Estimate): { readonly gasUsd: bigint } | string => {
  if (feeCosts.some(({ included }) => !included)) return "it wants a fee on top of the amount"
  let gasUsd = 0n
  for (const { amountUSD } of gasCosts) {
    const usd = amountUSD === undefined ? undefined : Decimal.parse(amountUSD)
    if (usd === undefined || usd < 0n) return "it does not say what its gas costs"
    gasUsd += usd
  }
  return { gasUsd }
}

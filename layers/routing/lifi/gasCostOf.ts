import { Result } from "effect"
import * as Decimal from "#domain/values/Decimal.ts"
import type { Estimate } from "#layers/routing/lifi/wire.ts"

/**
 * What the gas of a step costs, US dollars (wad); fees are part of the amount. The failure says what is not acceptable,
 * as the end of a sentence.
 */
export const gasCostOf = ({ feeCosts = [], gasCosts = [] }: Estimate): Result.Result<bigint, string> => {
  if (feeCosts.some(({ included }) => !included)) return Result.fail("it wants a fee on top of the amount")
  let gasUsd = 0n
  for (const { amountUSD } of gasCosts) {
    const usd = amountUSD === undefined ? undefined : Decimal.parse(amountUSD)
    if (usd === undefined || usd < 0n) return Result.fail("it does not say what its gas costs")
    gasUsd += usd
  }
  return Result.succeed(gasUsd)
}

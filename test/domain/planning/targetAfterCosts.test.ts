import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type PlanPosition, fromHolding } from "#domain/planning/PlanPosition.ts"
import * as SwapCost from "#domain/planning/SwapCost.ts"
import { targetAfterCosts } from "#domain/planning/legs/targetAfterCosts.ts"
import { base } from "#test/domain/planning/examples.ts"
import { erc20, type EvmAddress } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"

const assetAt = (index: number) => erc20(base, `0x${(index + 1).toString(16).padStart(40, "0")}` as EvmAddress)

const position = fc.record({
  balanceRaw: fc.bigInt(0n, 10n ** 12n),
  weight: fc.integer({ min: 0, max: 3_000 }),
  isBlocked: fc.boolean(),
  isAuthorized: fc.boolean()
})

const chain = fc
  .array(position, { minLength: 1, maxLength: 12 })
  .map((facts) =>
    facts.map(({ weight, ...fact }, index) =>
      fromHolding(
        { ...fact, assetId: assetAt(index), decimals: 18, priceUsd: Decimal.one, priceIsStale: false },
        weight
      )
    )
  )
  .filter((positions) => positions.some(({ weight }) => weight > 0n))

/** What a total leaves of the value, times 10,000 and the weight, by the definition: `T <= V - f * min(S(T), D(T))`. */
const isCovered = (
  positions: ReadonlyArray<PlanPosition>,
  { totalUsd, weight }: { readonly weight: bigint; readonly totalUsd: bigint },
  { kept, lost }: SwapCost.SwapCost
) => {
  const valueUsd = positions.reduce((sum, one) => sum + one.valueUsd, 0n)
  let sold = 0n
  let missing = 0n
  for (const { canBuy, canSell, valueUsd: held, weight: target } of positions) {
    const excess = held * weight - target * totalUsd
    if (excess > 0n && canSell) sold += excess
    if (excess < 0n && canBuy) missing -= excess
  }
  const room = (valueUsd - totalUsd) * weight
  return SwapCost.whole * room >= lost * sold || kept * room >= lost * missing
}

/** The greatest total that is covered, by halving. */
const oracle = (
  positions: ReadonlyArray<PlanPosition>,
  { valueUsd, weight }: { readonly weight: bigint; readonly valueUsd: bigint },
  cost: SwapCost.SwapCost
) => {
  let [low, high] = [0n, valueUsd]
  while (low < high) {
    const middle = (low + high + 1n) / 2n
    if (isCovered(positions, { weight, totalUsd: middle }, cost)) low = middle
    else high = middle - 1n
  }
  return low
}

describe("targetAfterCosts", () => {
  it("is the greatest total that trading pays for, whatever can be traded", () =>
    fc.assert(
      fc.property(chain, fc.integer({ min: 0, max: 9_999 }), (positions, feeBps) => {
        const cost = SwapCost.fromFeeBps(feeBps)
        const weight = positions.reduce((sum, one) => sum + one.weight, 0n)
        const valueUsd = positions.reduce((sum, one) => sum + one.valueUsd, 0n)
        assert.strictEqual(
          targetAfterCosts({ positions, weight, totalUsd: valueUsd }, cost),
          oracle(positions, { weight, valueUsd }, cost)
        )
      }),
      { numRuns: 2_000 }
    ))
})

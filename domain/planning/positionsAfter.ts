import { type PlanPosition, withBalance } from "#domain/planning/PlanPosition.ts"
import type { Leg } from "#domain/planning/Plan.ts"

/** The positions that the legs leave, in the same order. */
export const positionsAfter = (
  positions: ReadonlyArray<PlanPosition>,
  legs: ReadonlyArray<Pick<Leg, "sell" | "buy" | "sellAmountRaw" | "expectedBuyRaw">>
): ReadonlyArray<PlanPosition> => {
  const changes = new Map<string, bigint>()
  const change = (assetId: string, raw: bigint) => {
    const before = changes.get(assetId)
    changes.set(assetId, before === undefined ? raw : before + raw)
  }
  for (const { buy, expectedBuyRaw, sell, sellAmountRaw } of legs) {
    change(sell, -sellAmountRaw)
    change(buy, expectedBuyRaw)
  }
  return positions.map((position) => {
    const raw = changes.get(position.assetId)
    return raw === undefined ? position : withBalance(position, position.balanceRaw + raw)
  })
}

import { type Position, withBalance } from "#domain/planning/Position.ts"
import type { DraftLeg } from "#domain/planning/legs/DraftLeg.ts"
import type { Leg } from "#domain/planning/Plan.ts"

/** The positions that the legs leave, in the same order. */
export const resultOf = (
  positions: ReadonlyArray<Position>,
  legs: ReadonlyArray<Pick<Leg, "sell" | "buy" | "sellAmountRaw" | "expectedBuyRaw">>
): ReadonlyArray<Position> => {
  const changes = new Map<string, bigint>()
  const change = (assetId: string, raw: bigint) => changes.set(assetId, (changes.get(assetId) ?? 0n) + raw)
  for (const { buy, expectedBuyRaw, sell, sellAmountRaw } of legs) {
    change(sell, -sellAmountRaw)
    change(buy, expectedBuyRaw)
  }
  return positions.map((position) => {
    const raw = changes.get(position.assetId)
    return raw === undefined ? position : withBalance(position, position.balanceRaw + raw)
  })
}

/** The same for legs in the order of their drafts: what matching left of the sellers is known already. */
export const leftBy = (
  positions: ReadonlyArray<Position>,
  drafts: ReadonlyArray<DraftLeg>,
  legs: ReadonlyArray<Pick<Leg, "expectedBuyRaw">>
): ReadonlyArray<Position> => {
  const sold = new Map(drafts.map(({ seller }) => [seller.position, seller]))
  const bought = new Map<Position, bigint>()
  for (const [index, { buyer }] of drafts.entries()) {
    bought.set(buyer.position, (bought.get(buyer.position) ?? 0n) + legs[index]!.expectedBuyRaw)
  }
  return positions.map((position) => {
    const seller = sold.get(position)
    if (seller !== undefined) return { ...position, balanceRaw: seller.leftRaw, valueUsd: seller.leftUsd }
    const raw = bought.get(position)
    return raw === undefined ? position : withBalance(position, position.balanceRaw + raw)
  })
}

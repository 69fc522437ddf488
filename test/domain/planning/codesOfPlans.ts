import { SkipCode } from "#domain/values/Skip.ts"

/** Codes of the skips with an amount that the planner gives; all others come from readings, quotes and simulations. */
export const codesOfPlans: ReadonlyArray<SkipCode> = [
  SkipCode.belowMinTrade,
  SkipCode.withinBand,
  SkipCode.notWorthCost,
  SkipCode.costLimit,
  SkipCode.missingPrice,
  SkipCode.stalePrice,
  SkipCode.assetBlocked,
  SkipCode.notAuthorized,
  SkipCode.noCounterpart,
  SkipCode.crossChainPending,
  SkipCode.belowMinTransfer,
  SkipCode.inTransit,
  SkipCode.foreignAuthority
]

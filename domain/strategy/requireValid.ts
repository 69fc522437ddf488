/**
 * The gate that every allocation passes before it is stored: creating, validating and publishing. Source: shapes 2.4.
 */
import { Effect } from "effect"
import type { Assets } from "#domain/asset/Assets.ts"
import type { Chains } from "#domain/chain/Chains.ts"
import { ValidationFailed } from "#domain/Errors.ts"
import { allocationProblems } from "#domain/strategy/allocationRules.ts"
import type { Allocation } from "#domain/Allocation.ts"

export const requireValid = Effect.fnUntraced(function* (
  assets: Assets["Service"],
  { supported }: Chains["Service"],
  allocation: Allocation
) {
  const known = yield* assets.find(allocation.map(({ assetId }) => assetId))
  const problems = allocationProblems(allocation, { known, supported })
  if (problems.length > 0) {
    return yield* new ValidationFailed({ message: "The allocation is not valid", details: problems })
  }
})

/**
 * The gate that every allocation passes before it is stored: creating, validating and publishing. Source: shapes 2.4.
 */
import { Effect } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"
import type { Assets } from "#domain/asset/Assets.ts"
import type { Chains } from "#domain/chain/Chains.ts"
import { ValidationFailed } from "#domain/errors/Errors.ts"
import { allocationProblems } from "#domain/strategy/allocationRules.ts"
import type { Allocation } from "#domain/mandate/Allocation.ts"

/**
 * `unanswered`: those of its assets of which `TokenChecks` does not know what they are. A backtest, of which nothing is
 * traded, need not ask.
 */
export const requireValid = Effect.fnUntraced(function* (
  { assets, chains: { supported } }: { readonly assets: Assets["Service"]; readonly chains: Chains["Service"] },
  allocation: Allocation,
  unanswered: ReadonlyArray<AssetId> = []
) {
  const known = yield* assets.find(allocation.map(({ assetId }) => assetId))
  const problems = allocationProblems(allocation, { known, supported, unanswered })
  if (problems.length > 0) {
    return yield* new ValidationFailed({ message: "The allocation is not valid", details: problems })
  }
})

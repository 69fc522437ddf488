/** What one transaction of the account's chain can include. */
import { Effect } from "effect"
import { namespaceOf } from "#domain/values/Caip.ts"
import type { Families } from "#domain/chain/Families.ts"
import { ValidationFailed } from "#domain/errors/Errors.ts"
import type { SourceContext, WithdrawalTerms } from "#domain/withdrawal/resolveSource.ts"

/** Fails where the assets, all of one chain, do not fit into a transaction of it. */
export const requireOneTransaction = (
  families: Families["Service"],
  assets: WithdrawalTerms["assets"],
  at: SourceContext["at"]
) => {
  const narrow = assets
    .map(({ assetId }) => families[namespaceOf(assetId)])
    .find(({ maxWithdrawnAssets }) => maxWithdrawnAssets !== null && assets.length > maxWithdrawnAssets)
  if (narrow === undefined) return Effect.void
  const { chains, maxWithdrawnAssets } = narrow
  return Effect.fail(
    new ValidationFailed({
      message: `One transaction includes a withdrawal on ${chains}; ask for fewer assets at a time`,
      details: [`${at}assets: at most ${maxWithdrawnAssets} of ${chains}, ${assets.length} were named`]
    })
  )
}

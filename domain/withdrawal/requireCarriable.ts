/** What one transaction of the account's chain can carry. */
import { Effect } from "effect"
import { namespaceOf } from "#domain/Caip.ts"
import { ValidationFailed } from "#domain/Errors.ts"
import type { WithdrawalPlace, WithdrawalTerms } from "#domain/withdrawal/resolveSource.ts"

/** Assets of one withdrawal on Solana: more do not fit into a transaction of 1,232 bytes. */
export const maxAssetsOnSolana = 5

/** Fails where the assets, all of one chain, do not fit into a transaction of it. */
export const requireCarriable = (assets: WithdrawalTerms["assets"], at: WithdrawalPlace["at"]) =>
  assets.length > maxAssetsOnSolana && assets.some(({ assetId }) => namespaceOf(assetId) === "solana")
    ? Effect.fail(
        new ValidationFailed({
          message: "One transaction carries a withdrawal on Solana; ask for fewer assets at a time",
          details: [`${at}assets: at most ${maxAssetsOnSolana} of Solana, ${assets.length} were named`]
        })
      )
    : Effect.void

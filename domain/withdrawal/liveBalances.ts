/** What the account holds now, and whether it covers a withdrawal. */
import { Effect } from "effect"
import { type AccountId, type HeldAssetId, isNative } from "#domain/values/Caip.ts"
import { type Balances, holdingsIn } from "#domain/chain/Balances.ts"
import { InsufficientBalance, VerifierUnavailable } from "#domain/errors/Errors.ts"
import type { SourceContext, WithdrawalTerms } from "#domain/withdrawal/resolveSource.ts"

/** One line for each asset that the balances do not cover, as `field: reason`. Pure. */
export const shortfalls = (
  assets: WithdrawalTerms["assets"],
  balances: ReadonlyMap<HeldAssetId, bigint | null>,
  at: SourceContext["at"] = ""
): ReadonlyArray<string> =>
  assets.flatMap(({ assetId, amountRaw }, index) => {
    const held = balances.get(assetId) ?? null
    if (held === null) return [`${at}assets.${index}: ${assetId} does not answer as a token, need ${amountRaw}`]
    return held < BigInt(amountRaw) ? [`${at}assets.${index}: ${assetId} have ${held}, need ${amountRaw}`] : []
  })

/** Balances of the account now; fails when its chain does not answer. */
export const readBalances = Effect.fnUntraced(function* (
  balances: Balances["Service"],
  account: AccountId,
  assetIds: ReadonlyArray<HeldAssetId>
) {
  const tokens = assetIds.flatMap((assetId) => (isNative(assetId) ? [] : [assetId]))
  const read = yield* balances.read(account, tokens).pipe(
    Effect.tapError((error) => Effect.logWarning("Balances for a withdrawal cannot be read", error)),
    Effect.mapError(
      ({ chainId }) =>
        new VerifierUnavailable({
          message: `Balances on chain ${chainId} cannot be read now; nothing was stored, send the same request again`
        })
    )
  )
  return {
    blockNumber: read.blockNumber,
    balances: holdingsIn(read)
  }
})

interface CoveredWithdrawal {
  readonly account: AccountId
  readonly assets: WithdrawalTerms["assets"]
  readonly at: SourceContext["at"]
}

/** Fails with what is missing of each asset; answers the block at which nothing is. */
export const requireCovered = Effect.fnUntraced(function* (
  balances: Balances["Service"],
  { account, assets, at }: CoveredWithdrawal
) {
  const held = yield* readBalances(
    balances,
    account,
    assets.map(({ assetId }) => assetId)
  )
  const details = shortfalls(assets, held.balances, at)
  if (details.length > 0) {
    return yield* new InsufficientBalance({ message: `${account} does not hold what is to be withdrawn`, details })
  }
  return held.blockNumber
})

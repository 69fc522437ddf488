/** Port: balances of accounts, tokens and native coin, those of one account read at one block. */
import { Context, type DateTime, type Effect, type Result } from "effect"
import type { AccountMoment } from "#domain/values/AccountMoment.ts"
import type { ForeignAuthority } from "#domain/values/ForeignAuthority.ts"
import type { AssetId, ChainId, AccountId, HeldAssetId, NativeAssetId } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"

/** What an account holds at one block. `raw` is null when the contract that was asked failed to answer. */
export interface AccountBalances {
  readonly blockNumber: bigint
  readonly blockTime: DateTime.Utc
  readonly balances: ReadonlyArray<{ readonly assetId: AssetId; readonly raw: bigint | null }>
  /** Balance of the chain's native coin; left out where it is among the balances as a token, as SOL is. */
  readonly native?: { readonly assetId: NativeAssetId; readonly raw: bigint | null }
  /** Operations under the permission that was asked about, by the same block; left out where nobody counts them. */
  readonly operations?: bigint
  /** Who else may move assets of the account; left out where the chain gives nobody such a power over an account. */
  readonly authorities?: ReadonlyArray<ForeignAuthority>
  /** Why the block is too old to act on; left out of readings that are not. */
  readonly oldBecause?: string
}

/** What an account holds of each asset that was read, and of its chain's native coin. */
export const holdingsIn = ({
  balances,
  native
}: Pick<AccountBalances, "balances" | "native">): ReadonlyMap<HeldAssetId, bigint | null> =>
  new Map<HeldAssetId, bigint | null>(
    [...balances, ...(native === undefined ? [] : [native])].map(({ assetId, raw }) => [assetId, raw])
  )

/** What is carried out by a reading must find the account as it was. */
export const momentOf = ({ blockNumber, operations }: AccountBalances): AccountMoment =>
  operations === undefined ? { blockNumber } : { blockNumber, operations }

/** What a reading must be. */
export interface ReadingTerms {
  /** The first block that it may be of. */
  readonly notBefore?: bigint
  /** Where there is no newer reading, an old one is answered, marked as such; for what is only shown. */
  readonly takesOld?: boolean
  /** The agent's permission, whose operations are counted. */
  readonly permissionId?: string
}

/** An account on a chain, and assets of that chain. */
export interface AccountRequest extends ReadingTerms {
  readonly account: AccountId
  readonly assetIds: ReadonlyArray<AssetId>
}

/**
 * Token balances of accounts.
 *
 * **When to use**
 *
 * Use `read` for one account, and `readMany` for all accounts of a batch on one chain, which costs fewer requests.
 * Positions with values and warnings are `PositionReader`.
 *
 * **Details**
 *
 * Amounts are raw units. All balances of one account are of one block, which is the one to compare events with. A
 * block before one that the chain was seen at fails as `ChainUnavailable`; in the service (`CurrentBalances`) so does
 * one before the account's last recorded change.
 *
 * **Example** (An account that holds every asset of a read)
 *
 * ```ts
 * import { DateTime, Effect, Layer, Result } from "effect"
 * import type { AssetId } from "#domain/values/Caip.ts"
 * import { Balances } from "#domain/chain/Balances.ts"
 *
 * const reading = (assetIds: ReadonlyArray<AssetId>) =>
 *   Effect.map(DateTime.now, (blockTime) => ({
 *     blockNumber: 1n,
 *     blockTime,
 *     balances: assetIds.map((assetId) => ({ assetId, raw: 1_000_000n }))
 *   }))
 *
 * const FixedBalances = Layer.succeed(Balances, {
 *   read: (_account, assetIds) => reading(assetIds),
 *   readMany: (_chainId, accounts) =>
 *     Effect.forEach(accounts, ({ assetIds }) => Effect.map(reading(assetIds), Result.succeed))
 * })
 * ```
 */
export class Balances extends Context.Service<
  Balances,
  {
    /** All assets must be on the account's chain. An account that is not deployed yet can hold tokens. */
    readonly read: (
      account: AccountId,
      assetIds: ReadonlyArray<AssetId>,
      terms?: ReadingTerms
    ) => Effect.Effect<AccountBalances, ChainUnavailable>
    /**
     * Reads many accounts of one chain in as few requests as hold them; answers in the order of the accounts. What
     * fails one request fails its accounts alone.
     */
    readonly readMany: (
      chainId: ChainId,
      accounts: ReadonlyArray<AccountRequest>
    ) => Effect.Effect<ReadonlyArray<Result.Result<AccountBalances, ChainUnavailable>>>
  }
>()("ballast/domain/chain/Balances") {}

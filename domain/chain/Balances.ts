/** Port: token balances of an account, read in one request a chain at one block. */
import { Context, type DateTime, type Effect } from "effect"
import type { AssetId, EvmAccountId } from "#domain/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"

/** What an account holds at one block. `raw` is null when the token contract itself failed to answer. */
export interface AccountBalances {
  readonly blockNumber: bigint
  readonly blockTime: DateTime.Utc
  readonly balances: ReadonlyArray<{ readonly assetId: AssetId; readonly raw: bigint | null }>
}

export class Balances extends Context.Service<
  Balances,
  {
    /** All assets must be on the account's chain. An account that is not deployed yet can hold tokens. */
    readonly read: (
      account: EvmAccountId,
      assetIds: ReadonlyArray<AssetId>
    ) => Effect.Effect<AccountBalances, ChainUnavailable>
  }
>()("ballast/domain/chain/Balances") {}

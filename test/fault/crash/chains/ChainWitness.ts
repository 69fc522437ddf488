/** What the chains themselves say happened to an account, whatever the service's database says. */
import { Context, type Effect } from "effect"
import type { AccountId, ChainId, EvmAddress } from "#domain/values/Caip.ts"

/** An action of the account that a transaction included. */
export interface Included {
  readonly success: boolean
  /** Whether the relayer's own transaction included it. */
  readonly byRelayer: boolean
}

export class ChainWitness extends Context.Service<
  ChainWitness,
  {
    /** How many transactions of the account the chain has taken. */
    readonly usedNonces: (chainId: ChainId, account: EvmAddress) => Effect.Effect<number>
    /** Actions in the order of the chain. */
    readonly included: (account: AccountId) => Effect.Effect<ReadonlyArray<Included>>
  }
>()("ballast/test/fault/crash/ChainWitness") {}

/**
 * Port: revocations on chain. The account carries the owner's operation out at most once, from any sender; so what
 * became of one is read from the chain, not from this service. Nothing here sends anything.
 */
import { Context, type Effect, type Option } from "effect"
import type { ChainId, AccountId } from "#domain/values/Caip.ts"
import type { PermissionId } from "#domain/account/Authorization.ts"
import type { ChainRevocation, Revocation } from "#domain/account/Revocation.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { VerifierUnavailable } from "#domain/errors/Errors.ts"
import type { ActionReceipt, PreparedTransaction, SignedTransaction } from "#domain/relay/Transaction.ts"
import type { SimulationFailed } from "#domain/trading/SwapBatches.ts"

/** Whose permissions are to be ended, and what the accounts were made with. */
export interface RevocationRequest extends Omit<Revocation, "chains" | "root"> {
  readonly accounts: readonly [RevokedAccount, ...ReadonlyArray<RevokedAccount>]
}

export interface RevokedAccount {
  readonly chainId: ChainId
  readonly accountId: AccountId
  readonly permissionId: PermissionId
}

/** A revocation and its owner's signature over its message. */
export interface SignedRevocation {
  readonly revocation: Revocation
  readonly signature: string
}

/**
 * Revocations, as their chains show them.
 *
 * **When to use**
 *
 * Use in services and the run of this context alone.
 */
export class RevocationTransactions extends Context.Service<
  RevocationTransactions,
  {
    /** What the owner is to sign, by the nonces that the accounts show on their chains now. */
    readonly draft: (request: RevocationRequest) => Effect.Effect<Revocation, VerifierUnavailable>
    /** True when the chain shows, in confirmed blocks, that nothing from before the revocation is good any more. */
    readonly hasEnded: (chain: ChainRevocation) => Effect.Effect<boolean, ChainUnavailable>
    /** The relayer's transaction with the owner's operation, simulated; it deploys an account that is not there yet. */
    readonly prepare: (
      signed: SignedRevocation,
      chain: ChainRevocation
    ) => Effect.Effect<PreparedTransaction, ChainUnavailable | SimulationFailed>
    /** What became of a transaction that includes the operation; none while the chain has not decided. */
    readonly find: (
      transaction: SignedTransaction,
      chain: ChainRevocation
    ) => Effect.Effect<Option.Option<ActionReceipt>, ChainUnavailable>
  }
>()("ballast/domain/revocation/RevocationTransactions") {}

/** Port: the account that submits transactions and pays for them. It has no access to any portfolio. */
import { Context, type Effect, type Option } from "effect"
import type { ChainId, EvmAddress } from "#domain/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { Fees } from "#domain/relay/bumpFees.ts"
import type { PreparedTransaction, SignedTransaction } from "#domain/relay/Transaction.ts"

/**
 * The accounts that submit transactions and pay for them.
 *
 * **When to use**
 *
 * Use in services of this context alone. Signing within an owner's permission is `AgentSigner`.
 */
export class Relayer extends Context.Service<
  Relayer,
  {
    /** The first of the accounts; simulations are made as if it submitted. */
    readonly address: EvmAddress
    /** The accounts, each with nonces of its own, so that one whose transactions do not land holds up no other. */
    readonly accounts: readonly [EvmAddress, ...ReadonlyArray<EvmAddress>]
    /**
     * Signs with the nonce reserved for an account, the first when none is named. Fails when the key gives no
     * signature.
     */
    readonly sign: (
      prepared: PreparedTransaction,
      nonce: number,
      account?: EvmAddress
    ) => Effect.Effect<SignedTransaction, ChainUnavailable>
    /** Sends the stored bytes; bytes that the chain already has or has mined count as sent. */
    readonly broadcast: (transaction: SignedTransaction) => Effect.Effect<void, ChainUnavailable>
    /** How many of the relayer's nonces are used, which is the one that the chain waits for. */
    readonly usedNonces: (chainId: ChainId, relayer: EvmAddress) => Effect.Effect<number, ChainUnavailable>
    /** What a replacement of the transaction must offer now; none when that is above the chain's gas ceiling. */
    readonly quoteFeeBump: (transaction: SignedTransaction) => Effect.Effect<Option.Option<Fees>, ChainUnavailable>
    /** The same transaction with the same nonce, offering other fees. */
    readonly signReplacement: (
      transaction: SignedTransaction,
      fees: Fees
    ) => Effect.Effect<SignedTransaction, ChainUnavailable>
  }
>()("ballast/domain/relay/Relayer") {}

/** Port: the account that submits transactions and pays for them. It has no access to any portfolio. */
import { Context, type Effect, type Option, Schema } from "effect"
import { ChainId, type EvmAddress } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { FeeBump, Fees } from "#domain/relay/replacementFees.ts"
import type { PreparedTransaction, SignedTransaction } from "#domain/relay/Transaction.ts"

/** Every node that answered refused a transaction since it offers too little for a unit of gas. It was not sent. */
export class FeesTooLow extends Schema.TaggedError<FeesTooLow>()("FeesTooLow", {
  chainId: ChainId,
  reason: Schema.String
}) {
  override get message() {
    return `Chain ${this.chainId} takes no transaction for these fees: ${this.reason}`
  }
}

/** What a cancelling transaction offers and may use. */
export interface Cancelling {
  readonly fees: Fees
  readonly gasLimit: bigint
}

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
    /**
     * Sends the stored bytes; bytes that the chain already has or has mined count as sent. `FeesTooLow` when no node
     * takes them for what they offer; any other refusal, as of an account that cannot pay, is `ChainUnavailable`.
     */
    readonly broadcast: (transaction: SignedTransaction) => Effect.Effect<void, ChainUnavailable | FeesTooLow>
    /** How many of the relayer's nonces are used, which is the one that the chain waits for. */
    readonly usedNonces: (chainId: ChainId, relayer: EvmAddress) => Effect.Effect<number, ChainUnavailable>
    /**
     * What a replacement of the transaction must offer now, if one is needed. `isRefused` says that nodes refused its
     * fees as too low; `feeCeiling` is the most that what it includes may offer for a unit of gas. A transaction that
     * cancels may cost in all what the cancelled one might have.
     */
    readonly quoteFeeBump: (
      transaction: SignedTransaction,
      { isRefused, feeCeiling }: { readonly isRefused: boolean; readonly feeCeiling: bigint | null }
    ) => Effect.Effect<FeeBump, ChainUnavailable>
    /**
     * What a transaction must offer that takes the nonce and does nothing; none while that would cost more than the
     * transaction itself might have.
     */
    readonly quoteCancelling: (
      transaction: SignedTransaction,
      { feeCeiling }: { readonly feeCeiling: bigint }
    ) => Effect.Effect<Option.Option<Cancelling>, ChainUnavailable>
    /** A transfer of nothing from the account to itself, with the same nonce. */
    readonly signCancelling: (
      transaction: SignedTransaction,
      cancelling: Cancelling
    ) => Effect.Effect<SignedTransaction, ChainUnavailable>
    /** Signs the transaction again with its nonce, offering other fees. */
    readonly signReplacement: (
      transaction: SignedTransaction,
      fees: Fees
    ) => Effect.Effect<SignedTransaction, ChainUnavailable>
  }
>()("ballast/domain/relay/Relayer") {}

/**
 * Port: a batch of swaps on one chain as one user operation of the smart account, which the relayer carries. The batch
 * may end by handing what it yields to a recipient that the owner authorized.
 *
 * `prepare` may be repeated freely: nothing is sent. What was signed and sent is looked for with `find`, as often as
 * needed. Source: ERC-4337.
 */
import { Context, type Effect, type Option, Schema } from "effect"
import { AssetId, type ChainId, type EvmAccountId, EvmAddress } from "#domain/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { Grant } from "#domain/enrollment/Grant.ts"
import { SignatureCause } from "#domain/enrollment/RequiredSignatures.ts"
import type { ActionReceipt, PreparedTransaction, SignedTransaction } from "#domain/relay/Transaction.ts"
import type { OutgoingTransfer } from "#domain/transfer/OutgoingTransfer.ts"
import type { WithdrawalMessage } from "#domain/withdrawal/WithdrawalMessage.ts"

/** What was on offer for a swap when it was decided where to make it. */
export const SwapOffers = Schema.Struct({
  /** What the venue would pay. */
  venueRaw: Schema.BigIntFromString,
  /** The provider's best offer; null when it made none, or was not asked. */
  routed: Schema.NullOr(
    Schema.Struct({ tool: Schema.String, expectedRaw: Schema.BigIntFromString, gasUsd: Schema.BigIntFromString })
  ),
  /** Why the other one was not taken. */
  reason: Schema.String
})
export type SwapOffers = typeof SwapOffers.Type

/** A swap that will be made, with the least amount that it may yield. */
export const Swap = Schema.Struct({
  sell: AssetId,
  buy: AssetId,
  sellAmountRaw: Schema.BigIntFromString,
  minBuyAmountRaw: Schema.BigIntFromString,
  /** The venue's path; a routed swap is held against what this path pays. */
  path: Schema.Array(EvmAddress),
  /** The provider's tool that makes the swap; left out: the venue makes it. */
  tool: Schema.optionalKey(Schema.String),
  /** Left out where nothing was compared: liquidations, and swaps from before there were routes. */
  offers: Schema.optionalKey(SwapOffers)
})
export type Swap = typeof Swap.Type

/** A swap with what carries it out. */
export interface ReadySwap extends Swap {
  /** What our contract calls the provider's with; left out: the venue makes the swap. */
  readonly call?: { readonly contract: EvmAddress; readonly data: string }
}

/** The last call of a liquidation: the account's balance of one asset, less what it keeps, goes to the authorized recipient. */
export interface Settlement {
  /** A liquidating authorization, and the owner's signature over it. */
  readonly message: WithdrawalMessage
  readonly signature: string
  /** Into which everything was sold. */
  readonly assetId: AssetId
  /** What the account held of it before and was not authorized to give. */
  readonly keepRaw: bigint
}

/** Swaps on a chain under the grant that counts there. There may be none when there is a transfer or a settlement. */
export interface SwapBatch extends Grant {
  readonly chainId: ChainId
  readonly swaps: ReadonlyArray<ReadySwap>
  /** What leaves for other chains after the swaps. */
  readonly transfers?: ReadonlyArray<OutgoingTransfer>
  readonly settlement?: Settlement
}

/** The chain says that the operation would fail. */
export class SimulationFailed extends Schema.TaggedError<SimulationFailed>()("SimulationFailed", {
  chainId: Schema.Int,
  reason: Schema.String
}) {
  override get message() {
    return `Simulation on chain ${this.chainId} failed: ${this.reason}`
  }
}

/** The agent cannot act for the account until its owner has signed anew; nothing else would change that. */
export class AuthorizationRequired extends Schema.TaggedError<AuthorizationRequired>()("AuthorizationRequired", {
  chainId: Schema.Int,
  /** Of the permission that does not hold. */
  permissionId: Schema.String,
  cause: SignatureCause,
  reason: Schema.String
}) {
  override get message() {
    return `The owner must sign anew for chain ${this.chainId}: ${this.reason}`
  }
}

/** Several user operations as one transaction. */
export interface Bundle {
  readonly transaction: PreparedTransaction
  /** Places of those that it carries; the chain would refuse the others within it. */
  readonly kept: ReadonlyArray<number>
}

export class ChainExecution extends Context.Service<
  ChainExecution,
  {
    /** Builds, signs with the agent key and simulates; deploys the account and enables the permission the first time. */
    readonly prepare: (
      batch: SwapBatch
    ) => Effect.Effect<PreparedTransaction, ChainUnavailable | SimulationFailed | AuthorizationRequired>
    /**
     * One transaction that the chain accepts, of user operations of different accounts that may share one. Operations
     * that would fail it are left out. Nothing is sent; fails when the chain does not say whether it would accept it.
     */
    readonly bundle: (
      operations: readonly [PreparedTransaction, ...ReadonlyArray<PreparedTransaction>]
    ) => Effect.Effect<Bundle, ChainUnavailable>
    /**
     * The receipt of the user operation once it is included, whoever submitted it; none while it may still be. When
     * our own transaction was reverted or lost its nonce and nobody else carried the operation, a receipt without
     * success: nothing moved. The signed operation can then still be carried by others until its deadline.
     */
    readonly find: (
      transaction: SignedTransaction,
      accountId: EvmAccountId
    ) => Effect.Effect<Option.Option<ActionReceipt>, ChainUnavailable>
  }
>()("ballast/domain/rebalance/ChainExecution") {}

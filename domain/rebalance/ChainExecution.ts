/**
 * Port: carries a batch of swaps out on one chain as one user operation of the smart account.
 *
 * The four steps are separate because a crash may fall between any two: `prepare` may be repeated freely, `sign` is
 * local and runs in the transaction that reserves the nonce and stores the bytes, `broadcast` sends stored bytes as
 * often as needed, and `find` reads what became of them. Source: ERC-4337.
 */
import { Context, type Effect, type Option, Schema } from "effect"
import { AssetId, ChainId, EvmAccountId, EvmAddress } from "#domain/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { Bytes32, HexBytes, type Authorization } from "#domain/enrollment/Authorization.ts"

/** A swap that will be made, with the least amount that it may yield. */
export const Swap = Schema.Struct({
  sell: AssetId,
  buy: AssetId,
  sellAmountRaw: Schema.BigIntFromString,
  minBuyAmountRaw: Schema.BigIntFromString,
  path: Schema.Array(EvmAddress)
})
export type Swap = typeof Swap.Type

export interface SwapBatch {
  readonly chainId: ChainId
  readonly authorization: Authorization
  /** The owner's signature over the authorization's root. */
  readonly ownerSignature: string
  readonly swaps: ReadonlyArray<Swap>
}

/** A user operation signed by the agent that passed simulation, and what the relayer needs to send it. */
export const PreparedBatch = Schema.Struct({
  chainId: ChainId,
  accountId: EvmAccountId,
  userOpHash: Bytes32,
  /** Calldata of `EntryPoint.handleOps`. */
  callData: HexBytes,
  gasLimit: Schema.BigIntFromString,
  maxFeePerGas: Schema.BigIntFromString,
  maxPriorityFeePerGas: Schema.BigIntFromString,
  /** The relayer's next nonce as the chain counted it; the reserved one is never lower. */
  chainNonce: Schema.Int,
  /** Receipts are searched from this block on. */
  fromBlock: Schema.BigIntFromString
})
export type PreparedBatch = typeof PreparedBatch.Type

/** Signed bytes of the relayer's transaction. */
export const SignedTransaction = Schema.Struct({
  chainId: ChainId,
  userOpHash: Bytes32,
  nonce: Schema.Int,
  txHash: Bytes32,
  raw: HexBytes,
  fromBlock: Schema.BigIntFromString
})
export type SignedTransaction = typeof SignedTransaction.Type

/** What a user operation did, read from its receipt. */
export const BatchReceipt = Schema.Struct({
  userOpHash: Bytes32,
  /** The transaction that carried it; another than ours when somebody else submitted the same operation. */
  txHash: Bytes32,
  blockNumber: Schema.BigIntFromString,
  /** False when the operation was included but its calls were reverted: nothing moved. */
  success: Schema.Boolean,
  gasUsed: Schema.BigIntFromString,
  /** Net change of each token of the account, from the Transfer events of the transaction. */
  deltas: Schema.Array(Schema.Struct({ assetId: AssetId, raw: Schema.BigIntFromString }))
})
export type BatchReceipt = typeof BatchReceipt.Type

/** The chain says that the operation would fail. */
export class SimulationFailed extends Schema.TaggedError<SimulationFailed>()("SimulationFailed", {
  chainId: Schema.Int,
  reason: Schema.String
}) {
  override get message() {
    return `Simulation on chain ${this.chainId} failed: ${this.reason}`
  }
}

export class ChainExecution extends Context.Service<
  ChainExecution,
  {
    /** Builds, signs with the agent key and simulates; deploys the account and enables the permission the first time. */
    readonly prepare: (batch: SwapBatch) => Effect.Effect<PreparedBatch, ChainUnavailable | SimulationFailed>
    /** Signs the relayer's transaction with the reserved nonce. Local, no network. */
    readonly sign: (prepared: PreparedBatch, nonce: number) => Effect.Effect<SignedTransaction>
    /** Sends the stored bytes; bytes that the chain already knows or has mined count as sent. */
    readonly broadcast: (transaction: SignedTransaction) => Effect.Effect<void, ChainUnavailable>
    /**
     * The receipt of the user operation once it is included, whoever submitted it; none while it may still be. When
     * our own transaction was reverted or lost its nonce and nobody else carried the operation, a receipt without
     * success: nothing moved. The signed operation can then still be carried by others until its deadline.
     */
    readonly find: (
      transaction: SignedTransaction,
      accountId: EvmAccountId
    ) => Effect.Effect<Option.Option<BatchReceipt>, ChainUnavailable>
    /** The relayer's account on a chain: the one whose nonces are reserved. */
    readonly relayer: EvmAddress
  }
>()("ballast/domain/rebalance/ChainExecution") {}

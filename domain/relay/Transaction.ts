/**
 * What the service puts on a chain: a transaction of its relayer that carries one authorized action of a smart account,
 * or several of several accounts.
 *
 * The relayer only pays; what may happen is decided on chain by what the transaction carries, its subject: a user
 * operation, or a withdrawal that the owner signed.
 */
import { Effect, Schema } from "effect"
import { AssetId, ChainId, AccountId, EvmAddress } from "#domain/Caip.ts"
import { Bytes32, HexBytes } from "#domain/account/Authorization.ts"

/** A transaction that passed simulation and has no nonce yet. */
export const PreparedTransaction = Schema.Struct({
  chainId: ChainId,
  accountId: AccountId,
  /** Hash that names the carried action on chain; whoever submits it, it happens once. */
  subject: Bytes32,
  to: EvmAddress,
  callData: HexBytes,
  gasLimit: Schema.BigIntFromString,
  /** Gas that a transaction may use at most which carries it together with others; without it, it goes alone. */
  bundleGas: Schema.optionalKey(Schema.BigIntFromString),
  maxFeePerGas: Schema.BigIntFromString,
  maxPriorityFeePerGas: Schema.BigIntFromString,
  /** The first relayer's next nonce as two endpoints of the chain counted it; the reserved one is never lower. */
  chainNonce: Schema.Int,
  /** The same of every relayer account beside the first. */
  laneNonces: Schema.Array(Schema.Struct({ relayer: EvmAddress, nonce: Schema.Int })).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed([]))
  ),
  /** Receipts are searched from this block on. */
  fromBlock: Schema.BigIntFromString
})
export type PreparedTransaction = typeof PreparedTransaction.Type

/**
 * Signed bytes of the relayer's transaction, the newest of those that share its nonce, as one of its actions sees it.
 */
export const SignedTransaction = Schema.Struct({
  chainId: ChainId,
  subject: Bytes32,
  relayer: EvmAddress,
  nonce: Schema.Int,
  txHash: Bytes32,
  raw: HexBytes,
  fromBlock: Schema.BigIntFromString,
  /** How many actions it carries; one when it is left out. */
  carries: Schema.optionalKey(Schema.Int),
  /** Those that offered less. Any one of them may still land, and only one of all can. */
  replaces: Schema.Array(Bytes32)
})
export type SignedTransaction = typeof SignedTransaction.Type

/** What became of the carried action, read from the receipt of the transaction that carried it. */
export const ActionReceipt = Schema.Struct({
  subject: Bytes32,
  /** The transaction that carried it; another than ours when somebody else submitted the same action. */
  txHash: Bytes32,
  blockNumber: Schema.BigIntFromString,
  /** The block that includes it; null when none does, because the nonce went to another transaction. */
  blockHash: Schema.NullOr(Bytes32).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  /** False when the action was included but reverted, or can no longer be: nothing moved. */
  success: Schema.Boolean,
  /** The transaction that carried it together with others came to nothing, which says nothing about this action. */
  isSpoiled: Schema.optionalKey(Schema.Boolean),
  /** Its share of the transaction's gas, when that carried others too. */
  gasUsed: Schema.BigIntFromString,
  /**
   * Units of the chain's native asset (wei) that each unit of gas cost; left out by receipts from before it was kept.
   */
  gasPriceRaw: Schema.optionalKey(Schema.BigIntFromString),
  /** Net change of each token of the account, from the Transfer events of the transaction. */
  deltas: Schema.Array(Schema.Struct({ assetId: AssetId, raw: Schema.BigIntFromString }))
})
export type ActionReceipt = typeof ActionReceipt.Type

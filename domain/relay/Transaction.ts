/**
 * What the service puts on a chain: a transaction of its relayer that includes one authorized action of a smart
 * account, or several of several accounts.
 *
 * The relayer only pays; what may happen is decided on chain by what the transaction includes: a user operation, or a
 * withdrawal that the owner signed. `actionHash` names it.
 */
import { Schema } from "effect"
import { AssetId, ChainId, AccountId, EvmAddress } from "#domain/values/Caip.ts"
import { Bytes32, HexBytes } from "#domain/account/Authorization.ts"

/** A transaction that passed simulation and has no nonce yet. */
export const PreparedTransaction = Schema.TaggedStruct("Evm", {
  chainId: ChainId,
  accountId: AccountId,
  /** Hash that names the included action on chain, which happens once from whatever sender. */
  actionHash: Bytes32,
  to: EvmAddress,
  callData: HexBytes,
  gasLimit: Schema.BigIntFromString,
  /** Gas that a transaction may use at most which includes it together with others; without it, it goes alone. */
  bundleGas: Schema.optionalKey(Schema.BigIntFromString),
  maxFeePerGas: Schema.BigIntFromString,
  maxPriorityFeePerGas: Schema.BigIntFromString,
  /** Wei that a rollup charges beside the fee of gas, for bytes and its operator; left out where it charges none. */
  dataFee: Schema.optionalKey(Schema.BigIntFromString),
  /** Wei for a unit of gas that the value which it moves is worth at most; left out of what owners sign. */
  feeCeiling: Schema.optionalKey(Schema.BigIntFromString),
  /** Wei that a transaction which carries it may cost as a whole; left out of what owners sign. */
  costCeiling: Schema.optionalKey(Schema.BigIntFromString),
  /** The first relayer's next nonce as two endpoints of the chain counted it; the reserved one is never lower. */
  chainNonce: Schema.Int,
  /** Next nonces of the relayer accounts beside the first. */
  laneNonces: Schema.Array(Schema.Struct({ relayer: EvmAddress, nonce: Schema.Int })),
  /** Receipts are searched from this block on. */
  fromBlock: Schema.BigIntFromString
})
export type PreparedTransaction = typeof PreparedTransaction.Type

/**
 * Steps of one action on a chain where each is a transaction of its own, carried out in their order. Of swaps each is a
 * part, in the order of the batch.
 */
export const PreparedParts = Schema.TaggedStruct("Solana", {
  chainId: ChainId,
  accountId: AccountId,
  /** SHA-256 of the parts: names the action in the service, not on chain. */
  actionHash: Bytes32,
  /** What each part does, described by its family's adapter. */
  parts: Schema.NonEmptyArray(Schema.String),
  /** The most that the fees and rents of all parts may be. */
  maxLamports: Schema.BigIntFromString,
  /** What they are expected to be; left out where nobody weighs it. */
  expectedLamports: Schema.optionalKey(Schema.BigIntFromString),
  /** One lamport in 18 decimals. */
  lamportNative: Schema.BigIntFromString,
  /** Slot at which the account was read. */
  slot: Schema.BigIntFromString
})
export type PreparedParts = typeof PreparedParts.Type

/** What passed simulation, by the family of its chain. */
export const PreparedAction = Schema.Union([PreparedParts, PreparedTransaction])
export type PreparedAction = typeof PreparedAction.Type

/** What an action may cost, by the family of its chain. */
export type ActionCost =
  | Pick<PreparedParts, "_tag" | "chainId" | "maxLamports" | "expectedLamports" | "lamportNative">
  | Pick<PreparedTransaction, "_tag" | "chainId" | "gasLimit" | "maxFeePerGas" | "dataFee">

/** Whether an action is parts, each a transaction of its own; else a transaction of a relayer includes all of it. */
export const isParts = (prepared: PreparedAction): prepared is PreparedParts => prepared._tag === "Solana"

/** Whether the fees of an action follow a market of gas, so that they may rise while it waits. */
export const paysByGas = (cost: ActionCost): cost is Exclude<ActionCost, { readonly _tag: "Solana" }> =>
  cost._tag !== "Solana"

/** The most that an action may use: units of gas, or of its parts the smallest units of the native asset. */
export const unitsLimit = (cost: ActionCost): bigint => (cost._tag === "Solana" ? cost.maxLamports : cost.gasLimit)

/** What an action and its replacements may cost at most; nothing is left out but where no number is known. */
export type CostCeilings = Pick<PreparedTransaction, "feeCeiling" | "costCeiling">

/** Factor by which the price of a rollup's data may rise until a transaction is included. */
const maxOverDataFee = 2n

/** The most that a rollup may charge for the bytes of an action, in wei. */
export const maxDataFee = ({ dataFee = 0n }: Pick<PreparedTransaction, "dataFee">): bigint => maxOverDataFee * dataFee

/** The most that an action may cost, in the chain's native asset with 18 decimals. */
export const maxNative = (cost: ActionCost): bigint =>
  cost._tag === "Solana" ? cost.maxLamports * cost.lamportNative : cost.gasLimit * cost.maxFeePerGas + maxDataFee(cost)

/**
 * The most that a relayer's transaction can cost is about three times what it does cost: twice the base fee, and a
 * limit above what is used.
 */
const maxOverExpected = 3n

/** Expected part of the most that an action may cost, in any unit. */
export const expectedShare = (cost: ActionCost, max: bigint): bigint => {
  if (cost._tag !== "Solana") {
    const { dataFee = 0n } = cost
    if (dataFee === 0n) return max / maxOverExpected
    const [most, gas] = [maxNative(cost), (cost.gasLimit * cost.maxFeePerGas) / maxOverExpected]
    return (max * (gas + dataFee)) / most
  }
  const { expectedLamports = cost.maxLamports, maxLamports } = cost
  return maxLamports === 0n ? 0n : (max * expectedLamports) / maxLamports
}

/** The block, or the slot, from which on an action may be found on its chain. */
export const foundFrom = (prepared: PreparedAction): bigint => (isParts(prepared) ? prepared.slot : prepared.fromBlock)

/** What of an action that is to be signed says to a search for those before it where they may be. */
export interface ToSign {
  /** Block or slot, as `foundFrom` has it. */
  readonly from: bigint
  /** Its calldata, where it is a transaction of a relayer: an account's operation in it has the account's nonce. */
  readonly callData: string | undefined
}

export const toSign = (prepared: PreparedAction): ToSign => ({
  from: foundFrom(prepared),
  callData: isParts(prepared) ? undefined : prepared.callData
})

/** The transaction, where an action cannot be one of parts: there a part is a defect. */
export const asTransaction = (prepared: PreparedAction): PreparedTransaction => {
  if (!isParts(prepared)) return prepared
  throw new Error(`Chain ${prepared.chainId} includes parts, and a transaction of a relayer was expected`)
}

/** Copies an action with what it and its replacements may cost. The fees of parts are not the market's. */
export const costingWithin = <A extends PreparedAction>(prepared: A, ceilings: CostCeilings): A =>
  isParts(prepared) ? prepared : { ...prepared, ...ceilings }

/** Copies an action for a transaction of its own. */
export const relayedAlone = (prepared: PreparedTransaction): PreparedTransaction => {
  const { bundleGas: _bundleGas, ...rest } = prepared
  return rest
}

/**
 * Signed bytes of the relayer's transaction, the newest of those that share its nonce, as one of its actions sees it.
 */
export const SignedTransaction = Schema.Struct({
  chainId: ChainId,
  actionHash: Bytes32,
  relayer: EvmAddress,
  nonce: Schema.Int,
  txHash: Bytes32,
  raw: HexBytes,
  fromBlock: Schema.BigIntFromString,
  /** How many actions it includes; one when it is left out. */
  actionCount: Schema.optionalKey(Schema.Int),
  /** Those that offered less. Any one of them may still land, and only one of all can. */
  replaces: Schema.Array(Bytes32),
  /** Bytes of the transaction that it cancels, where it does nothing and takes the nonce. */
  cancels: Schema.optionalKey(HexBytes)
})
export type SignedTransaction = typeof SignedTransaction.Type

/** What names a transaction: 32 bytes in hex, or the first signature of a Solana transaction in base58. */
export const TxHash = Schema.Union([
  Bytes32,
  Schema.String.check(Schema.isPattern(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/u, { expected: "64 bytes in base58" }))
])

/** What became of the included action, read from the receipt of the transaction that included it. */
export const ActionReceipt = Schema.Struct({
  actionHash: Bytes32,
  /**
   * The transaction that included it; another than ours when another sender submitted the same action. Of several parts
   * the last that landed; the action's hash when no part was sent.
   */
  txHash: TxHash,
  blockNumber: Schema.BigIntFromString,
  /**
   * The block that includes it; null when none does, because the nonce went to another transaction, and where blocks
   * are named by their number alone.
   */
  blockHash: Schema.NullOr(Bytes32),
  /** False when the action was included but reverted, or can no longer be: nothing moved. */
  success: Schema.Boolean,
  /** Why it was reverted, as text that a contract of others may have written; left out where the chain shows none. */
  reason: Schema.optionalKey(Schema.String),
  /** The bundle that included it was reverted, so nothing is known of this action. */
  isBundleReverted: Schema.optionalKey(Schema.Boolean),
  /** It never began: its transaction was reverted whole, or has no block because its nonce went to another. */
  isNotBegun: Schema.optionalKey(Schema.Boolean),
  /** The service took it back, by a transaction that used its nonce, since gas cost more than it may. */
  isTakenBack: Schema.optionalKey(Schema.Boolean),
  /** Its share of the transaction's gas, when that included others too. */
  gasUsed: Schema.BigIntFromString,
  /**
   * Units of the chain's native asset (wei) that each unit of gas cost; left out where no transaction says it.
   */
  gasPriceRaw: Schema.optionalKey(Schema.BigIntFromString),
  /** Wei that a rollup charged beside the fee of gas, or its share; left out where it charged none. */
  dataFeeRaw: Schema.optionalKey(Schema.BigIntFromString),
  /** Net change of each token of the account, from the Transfer events of the transaction or by balances around it. */
  deltas: Schema.Array(Schema.Struct({ assetId: AssetId, raw: Schema.BigIntFromString })),
  /** What a block took of an action of several parts, in order; left out where `txHash` is all. */
  transactions: Schema.optionalKey(
    Schema.Array(Schema.Struct({ txHash: TxHash, success: Schema.Boolean, gasUsed: Schema.BigIntFromString }))
  ),
  /** Steps that had no effect, by their position; left out where an action has its effect whole or not at all. */
  unmade: Schema.optionalKey(
    Schema.Array(Schema.Struct({ part: Schema.Int, isCancelled: Schema.Boolean, reason: Schema.String }))
  )
})
export type ActionReceipt = typeof ActionReceipt.Type

/** What of a receipt says how much was paid. */
export type PaidGas = Pick<ActionReceipt, "gasUsed" | "gasPriceRaw" | "dataFeeRaw">

/** What was paid, in the chain's native asset with 18 decimals; undefined where the price of gas is not known. */
export const paidNative = ({ dataFeeRaw = 0n, gasPriceRaw, gasUsed }: PaidGas): bigint | undefined =>
  gasPriceRaw === undefined ? undefined : gasUsed * gasPriceRaw + dataFeeRaw

/** Units of gas that count towards budgets: a fee for data is as much gas as it would have paid for. */
export const countedGas = ({ dataFeeRaw = 0n, gasPriceRaw = 0n, gasUsed }: PaidGas): bigint =>
  gasPriceRaw === 0n ? gasUsed : gasUsed + dataFeeRaw / gasPriceRaw

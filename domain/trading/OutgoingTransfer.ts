/**
 * The transfer that ends a batch of swaps: the account hands an exact amount of one asset to the bridge of its chain,
 * which owes its owner's account on the chain of another asset at least the stated amount of that asset.
 */
import { Schema } from "effect"
import { AccountId, Address, AssetId } from "#domain/values/Caip.ts"

export const OutgoingTransfer = Schema.Struct({
  sell: AssetId,
  buy: AssetId,
  amountRaw: Schema.BigIntFromString,
  /** Minimum that may arrive. */
  minRaw: Schema.BigIntFromString,
  /** What the provider expects to arrive. */
  expectedRaw: Schema.BigIntFromString,
  /** What takes the amount on the chain of `sell`. */
  bridgeAddress: Address,
  /** The account that receives it; left out between EVM chains, where it is the one with the same address. */
  recipient: Schema.optionalKey(AccountId),
  /** The provider's name of the bridge; its status is read by it. */
  tool: Schema.String
})
export type OutgoingTransfer = typeof OutgoingTransfer.Type

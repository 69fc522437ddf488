/** A swap that an owner requested: on one chain, out of the account and back into it. */
import { Schema } from "effect"
import { AssetId, ChainId, AccountId } from "#domain/values/Caip.ts"

/**
 * The route that the client quoted, checked against the request; the provider's transaction is requested by it.
 */
export const ClientRoute = Schema.Struct({
  tool: Schema.String,
  /** Step as the provider sent it. */
  step: Schema.Unknown,
  /** What the client was promised at least, raw units of the bought asset. */
  minRaw: Schema.BigIntFromString
})
export type ClientRoute = typeof ClientRoute.Type

export const SwapOrder = Schema.Struct({
  _tag: Schema.tag("Swap"),
  chainId: ChainId,
  accountId: AccountId,
  sell: AssetId,
  buy: AssetId,
  amountRaw: Schema.BigIntFromString,
  /** Limit of this swap; null: the portfolio's own counts. */
  slippageBps: Schema.NullOr(Schema.Int),
  /** Left out: the service quotes, or an issuer. */
  route: Schema.optionalKey(ClientRoute),
  /** The issuer of one of both makes the swap; what its preview promised, raw units of the bought asset. */
  issuer: Schema.optionalKey(Schema.Struct({ expectedRaw: Schema.BigIntFromString }))
})
export type SwapOrder = typeof SwapOrder.Type

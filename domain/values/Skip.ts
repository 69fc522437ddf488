/**
 * What a rebalance leaves undone, and why.
 *
 * A skip is a normal outcome, not a failure: the run goes on without the part it names and the next run tries again.
 */
import { Schema } from "effect"
import * as Decimal from "#domain/values/Decimal.ts"
import { AssetId, type ChainId } from "#domain/values/Caip.ts"

/**
 * Why a part of a rebalance was not done. The planner gives most; `PRICE_IMPACT`, `NO_ROUTE`, `SIMULATION_FAILED` and
 * `TRANSFER_REFUSED` come from quotes and simulations of what it planned.
 */
export const SkipCode = {
  /** The asset is off target by less than the minimum trade worth making (`thresholdUsd`, or what rounding allows). */
  belowMinTrade: "BELOW_MIN_TRADE",
  /** The asset is off target, inside of the band that its policy allows. */
  withinBand: "WITHIN_BAND",
  /** What the trades of the chain would remove of the cost of drift is worth less than they cost. */
  notWorthCost: "NOT_WORTH_COST",
  /** The policy's limit of cost, of a run or of a week, is reached. */
  costLimit: "COST_LIMIT",
  /** What the price impact limit, or the day's share of a pool, leaves for later runs. */
  sliced: "SLICED",
  /** The asset has no price, so it has no known value: what is held stays, and what is due to it stays unspent. */
  missingPrice: "MISSING_PRICE",
  /**
   * The asset is held though the allocation does not have it, and the venues pay less than a tenth of what it is worth
   * by its price: it counts for nothing and is kept.
   */
  noMarket: "NO_MARKET",
  /** The token did not answer what the account holds of it. It is left as it is; the rest of the chain goes on. */
  balanceUnknown: "BALANCE_UNKNOWN",
  /** The last price of the asset is too old to trade on; it still counts towards the value of the chain. */
  stalePrice: "STALE_PRICE",
  /** The asset is on the block list: it is neither bought nor sold. */
  assetBlocked: "ASSET_BLOCKED",
  /** Somebody else may move the asset or close its account, as after a theft of the agent's key: it is not traded. */
  foreignAuthority: "FOREIGN_AUTHORITY",
  /** The chain could not be read. Its value is unknown and nothing is traded on it. */
  chainUnavailable: "CHAIN_UNAVAILABLE",
  /** No price source answered. What is held has no known value and nothing is traded. */
  pricesUnavailable: "PRICES_UNAVAILABLE",
  /** The policy that the chain enforces does not list the asset, so it cannot be bought. Selling stays possible. */
  notAuthorized: "NOT_AUTHORIZED",
  /** The asset is off target, and nothing it could be exchanged for can be traded on its chain. */
  noCounterpart: "NO_COUNTERPART",
  /** The chain as a whole is above or below its share of the portfolio, and no transfer can be made now. */
  crossChainPending: "CROSS_CHAIN_PENDING",
  /** The chain is off its share by less than the minimum transfer worth making. */
  belowMinTransfer: "BELOW_MIN_TRANSFER",
  /** What should be sold has not arrived from another chain yet. */
  inTransit: "IN_TRANSIT",
  /** The transfer to another chain would cost more than the limit, or its route does not match the request. */
  transferRefused: "TRANSFER_REFUSED",
  /** The provider of routes to other chains did not answer. */
  routesUnavailable: "ROUTES_UNAVAILABLE",
  /** The best quote for the leg moves the price further than the preferences allow. */
  priceImpact: "PRICE_IMPACT",
  /** No venue quotes the pair. */
  noRoute: "NO_ROUTE",
  /** The agent can act on the chain no longer until the owner has signed anew. */
  signatureRequired: "SIGNATURE_REQUIRED",
  /** The day's gas is used up, or the trades are not worth their gas. */
  gasRefused: "GAS_REFUSED",
  /** The chain needs an attested price of one of the leg's assets, and the attestor signed no acceptable one. */
  priceNotAttested: "PRICE_NOT_ATTESTED",
  /** The chain's own price feed of an asset is older than the trade guard takes. */
  feedStale: "FEED_STALE",
  /** The chain's sequencer is down, or up again for too short a time for its prices to be taken. */
  sequencerDown: "SEQUENCER_DOWN",
  /** The operation was cancelled before this was signed. */
  cancelled: "CANCELLED",
  /** The leg failed when it was simulated against the chain. */
  simulationFailed: "SIMULATION_FAILED"
} as const
export type SkipCode = (typeof SkipCode)[keyof typeof SkipCode]

/** One thing that a rebalance leaves undone, as a run stores it: the run's plan names the chain. */
export const RecordedSkip = Schema.Struct({
  /** The asset concerned; `null` where the skip is about the whole chain. */
  assetId: Schema.NullOr(AssetId),
  /** The leg concerned, where the skip is about a leg and not about one asset. */
  sell: Schema.optionalKey(AssetId),
  buy: Schema.optionalKey(AssetId),
  code: Schema.Literals(Object.values(SkipCode)),
  /**
   * US dollars (wad) left undone; `null` where it is unknown. For an asset or a chain the amount has a sign: positive
   * stays above its target, negative stays below it. For a leg it is the value that was to be sold.
   */
  valueUsd: Schema.NullOr(Schema.BigIntFromString),
  /** One sentence for people: what is wrong, and what would change it. */
  reason: Schema.String
})
export type RecordedSkip = typeof RecordedSkip.Type

/** Skip with its chain, where skips of several chains are together. */
export interface Skip extends RecordedSkip {
  readonly chainId: ChainId
}

/** A skip of a whole chain, without an amount. */
export const chainSkip = <Code extends SkipCode>(code: Code, reason: string) => ({
  assetId: null,
  code,
  valueUsd: null,
  reason
})

/** An amount in a reason. */
export const dollars = (usd: bigint): string => `${Decimal.format(usd, 2)} USD`

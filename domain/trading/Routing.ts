/**
 * Port: a provider of routes, between chains and between the tokens of one chain.
 *
 * What it answers was checked against the question before it comes here: a route that names another contract,
 * recipient, chain, token, amount or a lower minimum amount out is refused by the adapter, never passed on.
 */
import { Context, type Effect, type Option, Schema } from "effect"
import type { AssetId, ChainId, AccountId, Address } from "#domain/values/Caip.ts"

export interface RouteRequest {
  readonly sell: AssetId
  readonly buy: AssetId
  readonly amountRaw: bigint
  /** Sends on the chain of `sell`, and receives under the same address on the chain of `buy`. */
  readonly accountId: AccountId
  /** What takes the amount on the chain of `sell`: the address that the permission names. Nothing else may take it. */
  readonly bridgeAddress: Address
  /** Our own minimum amount out: a route that may deliver less is refused. */
  readonly minRaw: bigint
}

export interface Route {
  readonly tool: string
  /** What may arrive at least: never below the minimum of the request. */
  readonly minRaw: bigint
  readonly expectedRaw: bigint
  readonly durationSeconds: number
}

/** A swap on one chain, for which the provider's contract is called by one of ours (contracts/RoutedSwap.sol). */
export interface SwapRequest {
  readonly sell: AssetId
  readonly buy: AssetId
  readonly amountRaw: bigint
  /** The contract that executes the quote: it hands over what is sold, and what is bought must come to it. */
  readonly taker: Address
  readonly slippageBps: number
}

/** What a swap yields by the provider. */
export interface SwapTerms {
  readonly tool: string
  /** Raw units of the bought asset, fees deducted. */
  readonly expectedRaw: bigint
  readonly minRaw: bigint
  /** What its gas costs, US dollars (wad). */
  readonly gasUsd: bigint
}

/** One of the provider's routes for a swap, not yet a transaction. */
export interface RouteQuote extends SwapTerms {
  /** The provider's own data, which it needs back unchanged. */
  readonly step: unknown
}

/** A checked route: what our contract is to call the provider's with. */
export interface SwapCall extends SwapTerms {
  /** Calldata in hex. */
  readonly data: string
}

/** What became of a transfer, by the provider alone. */
export type RouteStatus =
  /** Not known yet, or on its way. */
  | { readonly _tag: "Pending"; readonly detail: string }
  | { readonly _tag: "Delivered"; readonly txHash: string }
  | { readonly _tag: "Partial"; readonly txHash: string }
  /** The amount came back to the sender, by a transaction on the source chain. */
  | { readonly _tag: "Refunded"; readonly txHash: string }
  | { readonly _tag: "Failed"; readonly reason: string }

/** The provider did not answer, or answered something that is not an answer. */
export class RoutingUnavailable extends Schema.TaggedError<RoutingUnavailable>()("RoutingUnavailable", {
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}

/** The provider's route does not match the request. */
export class RouteRefused extends Schema.TaggedError<RouteRefused>()("RouteRefused", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

export interface SentTransfer {
  readonly txHash: string
  readonly fromChainId: ChainId
  readonly toChainId: ChainId
  readonly tool: string
}

/**
 * A provider of routes.
 *
 * **When to use**
 *
 * Use through `BestQuotes` and `quoteTransfer`, and `status` to watch what was sent.
 *
 * **Details**
 *
 * `RoutingUnavailable` may be tried again or left aside. `RouteRefused`: the answer does not match the request.
 */
export class Routing extends Context.Service<
  Routing,
  {
    /** None when the provider has no route. */
    readonly quote: (request: RouteRequest) => Effect.Effect<Option.Option<Route>, RoutingUnavailable | RouteRefused>
    /** The provider's routes for a swap, in no order; fails soon rather than late, for there is another venue. */
    readonly swapQuotes: (request: SwapRequest) => Effect.Effect<ReadonlyArray<RouteQuote>, RoutingUnavailable>
    /** A quote as a call, with fresh amounts. */
    readonly swapCall: (
      request: SwapRequest,
      quote: RouteQuote
    ) => Effect.Effect<SwapCall, RoutingUnavailable | RouteRefused>
    readonly status: (sent: SentTransfer) => Effect.Effect<RouteStatus, RoutingUnavailable>
  }
>()("ballast/domain/trading/Routing") {}

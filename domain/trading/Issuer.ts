/**
 * Port: issuers of tokenized assets, which sell and take back their tokens for a stablecoin at a price that they sign.
 *
 * An answer of an issuer was checked against the request before it comes here: a signed offer for another token, side,
 * amount or chain is refused by the adapter, never passed on.
 */
import { Context, type Effect, Schema } from "effect"
import type { Asset } from "#domain/asset/Asset.ts"
import type { IssuerCall } from "#domain/trading/Swap.ts"

/** One of both is an issuer's token, the other the stablecoin that the issuer takes and pays on the chain. */
export interface IssuerTrade {
  readonly sell: Asset
  readonly buy: Asset
  /** What is spent, raw units of `sell`. Of a purchase a remainder may stay, of less than a raw unit's worth. */
  readonly amountRaw: bigint
}

/** What the issuer would give now; not binding. */
export interface IssuerQuote {
  /** Raw units of the bought asset. */
  readonly receiveRaw: bigint
  /** Price of a whole token of the issuer, US dollars (wad). */
  readonly priceUsd: bigint
  /** What the issuer charges beside its price, US dollars (wad). */
  readonly feeUsd: bigint
}

/** What the issuer has signed: it is used once, soon, by the contract that is registered as the issuer's customer. */
export interface SignedIssuerQuote extends IssuerQuote {
  /** Name of the issuer in results of operations. */
  readonly issuer: string
  readonly direct: IssuerCall
}

/** The issuer did not answer, or answered something that is not an answer. */
export class IssuerSilent extends Schema.TaggedError<IssuerSilent>()("IssuerSilent", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

/** The issuer does not make the trade now, or its answer does not match the request. */
export class IssuerRefused extends Schema.TaggedError<IssuerRefused>()("IssuerRefused", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

/**
 * Issuers of tokenized assets, as a side to trade with.
 *
 * **When to use**
 *
 * Use `quote` to show a price and `signedQuote` right before a trade is prepared.
 */
export class Issuer extends Context.Service<
  Issuer,
  {
    /** Needs no signature; may be called any number of times. */
    readonly quote: (trade: IssuerTrade) => Effect.Effect<IssuerQuote, IssuerSilent | IssuerRefused>
    /** Requests a signed price. Issuers bound how many of them are open, so it is requested when all else is ready. */
    readonly signedQuote: (trade: IssuerTrade) => Effect.Effect<SignedIssuerQuote, IssuerSilent | IssuerRefused>
  }
>()("ballast/domain/trading/Issuer") {}

/**
 * Whether this deployment offers trades with issuers, and how far their prices may be from the reference.
 *
 * **When to use**
 *
 * Use before a request to an issuer, and when its answer is judged.
 */
export class IssuerTerms extends Context.Service<
  IssuerTerms,
  {
    readonly isOffered: boolean
    /** Basis points. */
    readonly deviationBps: number
  }
>()("ballast/domain/trading/IssuerTerms") {}

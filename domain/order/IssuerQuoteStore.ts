/** Port: quotes of issuers that owners requested; a submission must name one of these. */
import { Context, type DateTime, type Effect } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"
import type { IssuerQuoteId, PortfolioId } from "#domain/values/Ids.ts"

/** The quoted trade, and what it would yield. */
export interface QuotedTrade {
  readonly portfolioId: PortfolioId
  readonly sell: AssetId
  readonly buy: AssetId
  readonly amountRaw: bigint
  readonly receiveRaw: bigint
}

export interface StoredIssuerQuote extends QuotedTrade {
  readonly quoteId: IssuerQuoteId
  readonly expiresAt: DateTime.Utc
}

/**
 * Where previews of issuers are kept.
 *
 * **When to use**
 *
 * Use in `IssuerQuotes` alone.
 */
export class IssuerQuoteStore extends Context.Service<
  IssuerQuoteStore,
  {
    /** Keeps it until it expires, beside at most 19 others of the portfolio; the oldest make room. */
    readonly keep: (quote: StoredIssuerQuote, now: DateTime.Utc) => Effect.Effect<void>
    /** Whether a quote of exactly this trade was shown and has not expired. */
    readonly holds: (trade: QuotedTrade, now: DateTime.Utc) => Effect.Effect<boolean>
  }
>()("ballast/domain/order/IssuerQuoteStore") {}

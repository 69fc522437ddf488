/** Port: what portfolios were worth day by day, the last valuation of each, and which process takes the next one. */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { AssetId, AccountId } from "#domain/values/Caip.ts"
import type * as Day from "#domain/values/Day.ts"
import type { OperationId, PortfolioId } from "#domain/values/Ids.ts"
import type { AccountSnapshot, DayValuation, PortfolioValuation } from "#domain/performance/Valuation.ts"

/** A portfolio that this process may value now. */
export interface ClaimedPortfolio {
  readonly portfolioId: PortfolioId
  readonly accountIds: ReadonlyArray<AccountId>
  /** The last valuation, account by account; empty before the first. */
  readonly before: ReadonlyMap<AccountId, AccountSnapshot>
}

/** A portfolio that was taken for one valuation, and the moment by which its claim is known. */
export interface TakenPortfolio {
  readonly portfolio: ClaimedPortfolio
  readonly claimedAt: DateTime.Utc
}

/** Which page of the walk over all live portfolios to claim. */
export interface ClaimQuery {
  /** The end of the page before; null for the first. */
  readonly after: PortfolioId | null
  readonly limit: number
  readonly now: DateTime.Utc
  /** Portfolios that were claimed after this moment are another process's. */
  readonly claimedBefore: DateTime.Utc
}

/** The blocks of one account between two valuations: after the first, through the second. */
export interface BlockSpan {
  readonly accountId: AccountId
  /** Null for an account that was never valued. */
  readonly after: bigint | null
  readonly through: bigint
}

/** Which block of an account was read. */
export interface BlockRead {
  readonly accountId: AccountId
  readonly blockNumber: bigint
}

/** A transfer that had left its account by the block that was read. */
export interface OutgoingValue {
  readonly operationId: OperationId
  readonly sourceId: AccountId
  /** The account that receives it, and what is expected to arrive. */
  readonly receiverId: AccountId
  readonly assetId: AssetId
  readonly raw: bigint
  /** Not closed yet. */
  readonly isOpen: boolean
  /** Where and when it arrived, or came back; null when it did not. */
  readonly arrival: BlockRead | null
}

/** What our own transactions did to accounts. */
export interface Trades {
  /**
   * Net changes by trades that were confirmed in the spans, and by transfers that arrived in them from accounts that
   * were valued before. A withdrawal is no trade; a liquidation is one, of what it sold for what it paid out. What
   * trades did to an account that was never valued is left out.
   */
  readonly confirmed: ReadonlyMap<AccountId, ReadonlyMap<AssetId, bigint>>
  /**
   * Accounts with a trade that was signed and of which it is not known yet whether it is confirmed, or that received
   * what by its own span the sending account still holds.
   */
  readonly pending: ReadonlySet<AccountId>
}

/**
 * Where values of portfolios are kept.
 *
 * **When to use**
 *
 * Use in services of this context alone.
 *
 * **Details**
 *
 * A claim is named by its time: `record` writes only for portfolios whose claim still holds.
 */
export class ValuationStore extends Context.Service<
  ValuationStore,
  {
    /** Claims a page in the order of ids; `last` is where the next one begins, null at the end of the walk. */
    readonly claim: (
      query: ClaimQuery
    ) => Effect.Effect<{ readonly claimed: ReadonlyArray<ClaimedPortfolio>; readonly last: PortfolioId | null }>
    /** Empty when the portfolio is unknown or archived. */
    readonly accountsOf: (portfolioId: PortfolioId) => Effect.Effect<ReadonlyArray<AccountId>>
    /** What the strategies of the portfolios name; a portfolio that is unknown is absent. */
    readonly targets: (
      portfolioIds: ReadonlyArray<PortfolioId>
    ) => Effect.Effect<ReadonlyMap<PortfolioId, ReadonlySet<AssetId>>>
    /**
     * Claims a live portfolio for a valuation, even from a process that has claimed it; none when it is unknown or
     * archived.
     */
    readonly take: (portfolioId: PortfolioId, now: DateTime.Utc) => Effect.Effect<Option.Option<TakenPortfolio>>
    /**
     * Reads trades. Callers read them after the balances: a trade in them is then either confirmed or pending. A
     * transfer is pending while it is open, unless it was opened before the given time.
     */
    readonly trades: (spans: ReadonlyArray<BlockSpan>, openedBefore?: DateTime.Utc) => Effect.Effect<Trades>
    /** Transfers that had not arrived by what was read of all accounts, and the known ones, whatever became of them. */
    readonly outgoing: (
      reads: ReadonlyArray<BlockRead>,
      known: ReadonlyArray<OperationId>
    ) => Effect.Effect<ReadonlyArray<OutgoingValue>>
    /**
     * Writes valuations into their day and as the last ones, for the portfolios whose claim of `claimedAt` still holds.
     * All or nothing for each portfolio; answers those that were written.
     */
    readonly record: (
      claimedAt: DateTime.Utc,
      valuedAt: DateTime.Utc,
      valuations: ReadonlyArray<PortfolioValuation>
    ) => Effect.Effect<ReadonlySet<PortfolioId>>
    /** The valued days of a portfolio from one on, in their order. */
    readonly days: (portfolioId: PortfolioId, from: Day.Day) => Effect.Effect<ReadonlyArray<DayValuation>>
  }
>()("ballast/domain/performance/ValuationStore") {}

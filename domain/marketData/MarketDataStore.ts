/** Port: the cache of market data that all processes share, and the lease of the one that fills it. */
import { Context, type DateTime, type Effect } from "effect"

/** The right to fill the cache until it ends. A later holder has a higher epoch. */
export interface RefreshLease {
  readonly holder: string
  readonly epoch: bigint
}

/** What is known of a dataset without its data. */
export interface DatasetState {
  readonly name: string
  /** Changes with each write of data. */
  readonly revision: bigint
  /** Null: it was never fetched with success. */
  readonly fetchedAt: DateTime.Utc | null
  readonly attemptedAt: DateTime.Utc
}

/** A dataset as its provider answered. */
export interface FetchedDataset {
  readonly name: string
  readonly provider: string
  /** JSON; what it means is the reader's to decode. */
  readonly data: unknown
  readonly at: DateTime.Utc
}

/** That a dataset could not be fetched. */
export interface FetchFailure {
  readonly name: string
  /** Reason for operators. */
  readonly reason: string
  readonly at: DateTime.Utc
}

/** A dataset as it is stored. */
export interface StoredDataset {
  readonly name: string
  readonly provider: string
  readonly revision: bigint
  readonly fetchedAt: DateTime.Utc
  /** JSON; what it means is the reader's to decode. */
  readonly data: unknown
}

/**
 * Where market data is kept, and the lease of its one writer.
 *
 * **When to use**
 *
 * Use in `MarketDataCache` and `MarketDataRefresh` alone.
 */
export class MarketDataStore extends Context.Service<
  MarketDataStore,
  {
    /** Acquires the lease when it is free, or renews it; none while another process has it. */
    readonly lead: (holder: string, now: DateTime.Utc, until: DateTime.Utc) => Effect.Effect<RefreshLease | null>
    /** Gives the lease back, so that another process need not wait for its end. */
    readonly resign: (lease: RefreshLease) => Effect.Effect<void>
    readonly states: Effect.Effect<ReadonlyArray<DatasetState>>
    readonly read: (names: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<StoredDataset>>
    /** Stores what was fetched. False, and nothing is stored, when the lease is another's by now. */
    readonly write: (lease: RefreshLease, fetched: FetchedDataset) => Effect.Effect<boolean>
    /** Notes that a dataset could not be fetched; what is stored of it stays. */
    readonly fail: (lease: RefreshLease, failure: FetchFailure) => Effect.Effect<void>
    /** Removes datasets of these names. */
    readonly remove: (lease: RefreshLease, names: ReadonlyArray<string>) => Effect.Effect<void>
  }
>()("ballast/domain/marketData/MarketDataStore") {}

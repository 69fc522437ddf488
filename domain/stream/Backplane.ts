/**
 * Port: what the workers of a deployment share. Of one worker alone it is a part of its process.
 *
 * It gives each tick its position. Sequences are of the whole deployment, grow strictly, and go on above all earlier
 * ones after a restart, since the first one is the microseconds of the moment at which the order began.
 */
import { Context, type Effect, type Option, Schema, type Stream } from "effect"
import type { MarketEvent, MarketUpdate } from "#domain/stream/MarketData.ts"
import type { DropReason } from "#domain/stream/readTick.ts"

/** What the workers share does not answer. */
export class BackplaneUnavailable extends Schema.TaggedError<BackplaneUnavailable>()("BackplaneUnavailable", {
  reason: Schema.String
}) {
  override get message() {
    return `The workers' backplane is unavailable: ${this.reason}`
  }
}

/** A right that one worker has at a time. A later holder's epoch is higher, and its ticks shut out an earlier one's. */
export interface Lease {
  readonly epoch: number
  /**
   * Whether the lease is still held: false once renewing is late, even before the backplane has reported the loss.
   * Checked before every write, so that a process that was stopped for a while writes nothing when it goes on.
   */
  readonly isCurrent: () => boolean
}

/** A value that all workers share, or a key whose value was removed. */
export interface SharedEntry {
  readonly key: string
  readonly value: string
}

/** A value that a worker announced. */
export interface Announcement {
  readonly workerId: string
  readonly value: string
}

export interface BackplaneFeed {
  /** Sequences up to this one are older than anything that is kept. */
  readonly completeAfter: number
  /** Events that are kept, then new ones as they come, in the order of their sequences. */
  readonly events: Stream.Stream<ReadonlyArray<MarketEvent>, BackplaneUnavailable>
}

/**
 * What the workers of a deployment share.
 *
 * **When to use**
 *
 * Use in the market-data worker alone.
 */
export class Backplane extends Context.Service<
  Backplane,
  {
    readonly workerId: string
    /** Whether the rest of the deployment can be reached. */
    readonly isReachable: Effect.Effect<boolean>
    /** Gives a tick its position, unless it is not newer than the last of its asset, or the lease is not the latest. */
    readonly append: (
      tick: MarketUpdate,
      lease: Lease
    ) => Effect.Effect<Option.Option<DropReason | "fenced">, BackplaneUnavailable>
    /** The highest sequence that was given anywhere. */
    readonly position: Effect.Effect<number, BackplaneUnavailable>
    readonly feed: Effect.Effect<BackplaneFeed, BackplaneUnavailable>
    /** Whether this worker holds the lease on the providers' connections, at every change. */
    readonly leases: Stream.Stream<Option.Option<Lease>>
    /** Sets a value for all workers, those that start later included. */
    readonly share: (entries: ReadonlyArray<SharedEntry>) => Effect.Effect<void, BackplaneUnavailable>
    /** All shared values, then every change. */
    readonly shared: Stream.Stream<ReadonlyArray<SharedEntry>, BackplaneUnavailable>
    /** Sends all workers, this one included, a value that is out of date in seconds. */
    readonly announce: (value: string) => Effect.Effect<void, BackplaneUnavailable>
    readonly announced: Stream.Stream<Announcement, BackplaneUnavailable>
  }
>()("ballast/domain/stream/Backplane") {}

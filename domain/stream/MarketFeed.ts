/** Port: a provider of market data, as the worker that holds the lease sees it. */
import { type Effect, type Result, Schema, type Stream } from "effect"
import type { Provider, PublicAsset } from "#domain/stream/PublicAsset.ts"
import type { BarFigures, DropReason, QuoteFigures } from "#domain/stream/readTick.ts"

/** The provider refuses this deployment: trying again changes nothing until the configuration changes. */
export class FeedRefused extends Schema.TaggedError<FeedRefused>()("FeedRefused", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

export const ConnectionStatus = Schema.Literals(["connected", "connecting", "disconnected", "error"])
export type ConnectionStatus = typeof ConnectionStatus.Type

/** Where a connection stands. `attempt` counts from the last success; `nextAttemptAt` is Unix milliseconds. */
export const FeedState = Schema.Struct({
  status: ConnectionStatus,
  attempt: Schema.Int,
  nextAttemptAt: Schema.NullOr(Schema.Finite),
  reason: Schema.NullOr(Schema.String)
})
export type FeedState = typeof FeedState.Type

/** Figures of one asset as the provider sent them. */
export interface AssetFigures {
  readonly symbol: string
  readonly figures: BarFigures | QuoteFigures
}

/** An entry that the provider sent, or what was wrong with it. */
export type FeedItem = Result.Result<AssetFigures, DropReason>

export interface MarketFeed {
  readonly provider: Provider
  /** Whether the provider holds a connection that can be cut, or is polled. */
  readonly isPolled: boolean
  /**
   * Figures of the assets that `wanted` names while it runs, over as many connections as it takes. It never ends by
   * itself but for a refusal. `report` is called with every change.
   */
  readonly figures: (
    wanted: Effect.Effect<ReadonlyArray<PublicAsset>>,
    report: (state: FeedState) => void
  ) => Stream.Stream<ReadonlyArray<FeedItem>, FeedRefused>
}

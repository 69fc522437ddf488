/** Port: the stream worker, as the API reaches it. */
import { Context, type Effect, Schema } from "effect"
import type { Provider, PublicAsset } from "#domain/stream/PublicAsset.ts"
import type { ProviderConnected, ProviderDisconnected, WorkerStatus } from "#domain/stream/WorkerStatus.ts"

/** The worker did not do what was requested. `isOurs` is false when it answered that the request is invalid. */
export class MarketDataStreamFailed extends Schema.TaggedError<MarketDataStreamFailed>()("MarketDataStreamFailed", {
  reason: Schema.String,
  isOurs: Schema.Boolean
}) {
  override get message() {
    return this.reason
  }
}

/**
 * The stream worker, as the API reaches it.
 *
 * **When to use**
 *
 * Use in operator procedures. Inside the worker nothing calls it.
 */
export class MarketDataStream extends Context.Service<
  MarketDataStream,
  {
    readonly status: Effect.Effect<WorkerStatus, MarketDataStreamFailed>
    readonly connect: (provider: Provider) => Effect.Effect<typeof ProviderConnected.Type, MarketDataStreamFailed>
    readonly disconnect: (provider: Provider) => Effect.Effect<typeof ProviderDisconnected.Type, MarketDataStreamFailed>
    /** The assets that the worker lets the public follow. */
    readonly registered: Effect.Effect<ReadonlyArray<PublicAsset>, MarketDataStreamFailed>
    readonly upsert: (assets: ReadonlyArray<PublicAsset>) => Effect.Effect<void, MarketDataStreamFailed>
  }
>()("ballast/domain/stream/MarketDataStream") {}

/** What operators see of the stream workers. Source: shapes U; the extra fields are ours. */
import { Schema } from "effect"
import { ConnectionStatus } from "#domain/stream/MarketFeed.ts"
import { Provider } from "#domain/stream/PublicAsset.ts"

const Time = Schema.NullOr(Schema.String)

export const ProviderStatus = Schema.Struct({
  provider: Provider,
  status: ConnectionStatus,
  /** Why, where the status alone does not say. */
  reason: Schema.NullOr(Schema.String),
  /** Symbols that are fetched. */
  subscriptionCount: Schema.Int,
  /** Attempts since the last success, and when the next one is due. */
  reconnect: Schema.Struct({ attempt: Schema.Int, nextAttemptAt: Time }),
  lastEventAt: Time,
  /** Entries of the provider that were not passed on since this connection's worker began, by reason. */
  dropped: Schema.Record(Schema.String, Schema.Int)
})
export type ProviderStatus = typeof ProviderStatus.Type

export const TopicStatus = Schema.Struct({
  topic: Schema.String,
  /** Open sockets, on all workers. */
  clientCount: Schema.Int,
  /** Sequences from which a client can resume without a gap: `fromSequence - 1` is the earliest. */
  replayWindow: Schema.Struct({ fromSequence: Schema.Int, toSequence: Schema.Int }),
  lastEventAt: Time
})
export type TopicStatus = typeof TopicStatus.Type

export const WorkerStatus = Schema.Struct({
  providers: Schema.Array(ProviderStatus),
  topics: Schema.Array(TopicStatus)
})
export type WorkerStatus = typeof WorkerStatus.Type

export const ProviderConnected = Schema.Struct({ provider: Provider, status: ConnectionStatus })
export const ProviderDisconnected = Schema.Struct({
  provider: Provider,
  status: ConnectionStatus,
  /** Whether nothing was done, and why. */
  noop: Schema.Boolean,
  reason: Schema.optionalKey(Schema.String)
})

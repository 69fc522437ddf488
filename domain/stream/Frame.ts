/**
 * The frames that a socket of the stream sends, each one JSON text message. docs/stream.md describes every one.
 *
 * `v` is the version of the frames: a client ignores unknown types and fields, and anything that would
 * break such a client gets another version and other routes.
 */
import { Schema } from "effect"
import { MarketData } from "#domain/stream/MarketData.ts"

const frameVersion = 1

const v = Schema.Literal(frameVersion)
const Sequence = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const topic = Schema.String

/** The latest data of one asset of the topic. */
const SnapshotItem = Schema.Struct({ symbol: Schema.String, sequence: Sequence, data: MarketData })

/** Everything up to `sequence`: the latest of each asset that has any. Also the body of the snapshot routes. */
export const Snapshot = Schema.Struct({
  v,
  type: Schema.Literal("snapshot"),
  topic,
  sequence: Sequence,
  items: Schema.Array(SnapshotItem)
})
export type Snapshot = typeof Snapshot.Type

const EventFrame = Schema.Struct({
  v,
  type: Schema.Literal("event"),
  topic,
  sequence: Sequence,
  /** Sequence of the symbol's event before this one; 0 for its first. */
  previous: Sequence,
  symbol: Schema.String,
  data: MarketData
})
export type EventFrame = typeof EventFrame.Type

export const gapReasons = ["window", "unknown"] as const

/**
 * What followed `afterSequence` is no longer there (`window`), or the sequence is none of this stream's (`unknown`). A
 * snapshot comes next.
 */
const Gap = Schema.Struct({
  v,
  type: Schema.Literal("gap"),
  topic,
  afterSequence: Sequence,
  reason: Schema.Literals(gapReasons)
})

/** The client fell behind: of quotes between the two sequences only the latest of each asset follow. */
const Skipped = Schema.Struct({
  v,
  type: Schema.Literal("skipped"),
  topic,
  afterSequence: Sequence,
  sequence: Sequence
})

/** The connection is alive; all events up to `sequence` have been sent. */
const Heartbeat = Schema.Struct({ v, type: Schema.Literal("heartbeat"), sequence: Sequence })

/** The answer to a client's `{"type": "ping"}`. */
const Pong = Schema.Struct({ v, type: Schema.Literal("pong") })

export const Frame = Schema.Union([Snapshot, EventFrame, Gap, Skipped, Heartbeat, Pong])
export type Frame = typeof Frame.Type

/** Why the worker closes a socket; codes of RFC 6455 where it has one. */
export const closeCodes = {
  goingAway: { code: 1001, reason: "the worker stops: resume on another" },
  messageTooLong: { code: 1009, reason: "a message of the client is longer than allowed" },
  unexpectedMessage: { code: 4400, reason: 'only {"type":"ping"} is understood' },
  tooSlow: { code: 4408, reason: "fell behind the replay window: resume with afterSequence" },
  tooManyMessages: { code: 4429, reason: "too many messages" }
} as const
export type CloseReason = (typeof closeCodes)[keyof typeof closeCodes]

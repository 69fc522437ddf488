/**
 * What Massive's stocks socket sends: a JSON array in every frame, of statuses and of bars of a second (`A`).
 * Source: Massive's documentation of the stocks WebSocket.
 */
import { Option, Result, Schema } from "effect"
import type { FeedItem } from "#domain/stream/MarketFeed.ts"

const Status = Schema.Struct({
  ev: Schema.Literal("status"),
  status: Schema.String,
  message: Schema.optionalKey(Schema.String)
})
export type Status = typeof Status.Type

/** Times are Unix milliseconds; `v` counts shares, `vw` is the bar's own average price. */
const SecondBar = Schema.Struct({
  ev: Schema.Literal("A"),
  sym: Schema.String,
  v: Schema.Number,
  vw: Schema.optionalKey(Schema.Number),
  o: Schema.Number,
  h: Schema.Number,
  l: Schema.Number,
  c: Schema.Number,
  s: Schema.Number,
  e: Schema.Number
})

const readArray = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Array(Schema.Unknown)))
const readStatus = Schema.decodeUnknownOption(Status)
const readBar = Schema.decodeUnknownOption(SecondBar)

export interface MassiveFrame {
  readonly statuses: ReadonlyArray<Status>
  readonly items: ReadonlyArray<FeedItem>
}

const malformed: FeedItem = Result.fail("malformed")

const toItem = (entry: unknown): FeedItem =>
  Option.match(readBar(entry), {
    onNone: () => malformed,
    onSome: ({ c, e, h, l, o, s, sym, v, vw = null }) =>
      Result.succeed({
        symbol: sym,
        figures: { kind: "ohlcv", open: o, high: h, low: l, close: c, volume: v, vwap: vw, startMs: s, endMs: e }
      })
  })

export const readFrame = (text: string): MassiveFrame =>
  Option.match(readArray(text), {
    onNone: () => ({ statuses: [], items: [malformed] }),
    onSome: (entries) => {
      const statuses = entries.map((entry) => readStatus(entry))
      return {
        statuses: statuses.flatMap((status) => (Option.isSome(status) ? [status.value] : [])),
        items: entries.filter((_, index) => Option.isNone(statuses[index]!)).map(toItem)
      }
    }
  })

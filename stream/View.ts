/**
 * What a group of clients follows in common: one topic, and of a collection the same symbols. All its clients that are
 * up to date get the same bytes.
 */
import { feeds, nameOf, type StreamAssetKey, assetKey, type Topic } from "#domain/stream/Topic.ts"
import type { FramedEvent } from "#stream/frames.ts"
import { joined } from "#stream/textFrame.ts"

/** Part of a view's past, from the requested position up to and with `through`. */
export interface Passage {
  readonly through: number
  readonly isLast: boolean
  readonly bytes: Uint8Array
}

/** A client that has everything so far. */
export interface Follower {
  readonly deliver: (frames: Uint8Array, before: number) => void
  readonly send: (frame: Uint8Array) => void
  readonly breakOff: (before: number) => void
}

export class View {
  readonly key: string
  readonly topicName: string
  readonly assets: ReadonlyArray<StreamAssetKey>
  readonly isConflatable: boolean
  /** Clients that have everything so far. */
  readonly live = new Set<Follower>()
  /** All clients. */
  clients = 0
  /** What the batch that is being taken in has for this view. */
  batch: Array<FramedEvent> = []
  /** Whether events of this view were lost before the batch. */
  hasHole = false

  constructor(topic: Topic, symbols: ReadonlyArray<string>) {
    this.topicName = nameOf(topic)
    this.assets = symbols.map((symbol) => assetKey(topic.assetClass, symbol))
    this.isConflatable = feeds[topic.assetClass].isConflatable
    this.key = viewKey(topic, symbols)
  }

  framed(events: ReadonlyArray<FramedEvent>): Uint8Array {
    return joined(events.map((event) => event.frame(this.topicName)))
  }
}

export const viewKey = (topic: Topic, symbols: ReadonlyArray<string>): string =>
  topic.kind === "asset" ? nameOf(topic) : `${nameOf(topic)}|${[...symbols].sort().join(",")}`

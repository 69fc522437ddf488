/**
 * Where events become frames and frames find their sockets.
 *
 * Everything here happens in one turn of the event loop: a batch of events is taken in and written, or a client begins,
 * never one in the middle of the other. So what a client is given from the past and what comes live meet without a hole
 * and without an overlap.
 */
import { Context, Effect, Layer } from "effect"
import type { Snapshot } from "#domain/stream/Frame.ts"
import { streamKeyOf, type MarketEvent } from "#domain/stream/MarketData.ts"
import type { Outlet } from "#domain/stream/Outlet.ts"
import { ReplayWindow } from "#domain/stream/ReplayWindow.ts"
import { type StreamAssetKey, type Topic } from "#domain/stream/Topic.ts"
import { WorkerSettings, type WorkerSettingsValue } from "#domain/stream/WorkerSettings.ts"
import { encode, FramedEvent } from "#stream/frames.ts"
import { type Past, Subscription } from "#stream/Subscription.ts"
import { joined } from "#stream/textFrame.ts"
import { type Passage, View, viewKey } from "#stream/View.ts"

/** Events that one passage of the past has at most. */
const passageLimit = 256
const maxPassages = 64
const nothing = new Uint8Array(0)

export interface TopicState {
  readonly topic: string
  readonly clients: number
  readonly assets: ReadonlyArray<StreamAssetKey>
}

export class HubState implements Past {
  readonly #settings: Pick<WorkerSettingsValue, "bytesPerSocket" | "replayWindow">
  readonly #windows = new Map<StreamAssetKey, ReplayWindow<FramedEvent>>()
  readonly #views = new Map<string, View>()
  readonly #viewsOfAsset = new Map<StreamAssetKey, Set<View>>()
  /** Read last: when many clients come back together, most request the same, and their sockets share its bytes. */
  readonly #passages = new Map<string, Passage>()
  #completeAfter: number
  #position: number

  /** `completeAfter`: the sequence after which all events will be taken in. */
  constructor(settings: Pick<WorkerSettingsValue, "bytesPerSocket" | "replayWindow">, completeAfter: number) {
    this.#settings = settings
    this.#completeAfter = completeAfter
    this.#position = completeAfter
  }

  position(): number {
    return this.#position
  }

  /** Where the order begins: nothing after this sequence is missing unless an event's `previous` shows it. */
  beginAfter(completeAfter: number): void {
    if (this.#position > 0) return
    this.#completeAfter = completeAfter
    this.#position = completeAfter
  }

  /** Takes events in, in the order of their sequences; those it has already are passed over. */
  ingest(events: ReadonlyArray<MarketEvent>): void {
    const before = this.#position
    const touched = new Set<View>()
    for (const event of events) {
      if (event.sequence <= this.#position) continue
      this.#position = event.sequence
      const asset = streamKeyOf(event)
      const framed = new FramedEvent(event)
      const hasHole = this.#keep(asset, framed)
      for (const view of this.#viewsOfAsset.get(asset) ?? []) {
        view.batch.push(framed)
        view.hasHole ||= hasHole
        touched.add(view)
      }
    }
    for (const view of touched) this.#deliver(view, before)
  }

  /** Keeps an event for replay; whether the one before it never came here. */
  #keep(asset: StreamAssetKey, event: FramedEvent): boolean {
    const window = this.#windowOf(asset)
    const { previous } = event.event
    const hasHole = previous > (window.latest?.sequence ?? window.completeAfter)
    if (hasHole) window.restart(previous)
    window.push(event)
    return hasHole
  }

  #deliver(view: View, before: number): void {
    const { batch, hasHole } = view
    view.batch = []
    view.hasHole = false
    if (view.live.size === 0) return
    if (hasHole) return [...view.live].forEach((subscription) => subscription.breakOff(before))
    const frames = view.framed(batch)
    for (const subscription of view.live) subscription.deliver(frames, before)
  }

  subscribe(topic: Topic, symbols: ReadonlyArray<string>, outlet: Outlet): Subscription {
    const view = this.#openView(topic, symbols)
    view.clients += 1
    return new Subscription(view, this, { outlet, budget: this.#settings.bytesPerSocket })
  }

  unsubscribe(subscription: Subscription): void {
    subscription.end()
    const { view } = subscription
    view.clients -= 1
    if (view.clients > 0) return
    this.#views.delete(view.key)
    for (const asset of view.assets) {
      const views = this.#viewsOfAsset.get(asset)
      views?.delete(view)
      if (views?.size === 0) this.#viewsOfAsset.delete(asset)
    }
  }

  heartbeat(): void {
    const frame = encode({ v: 1, type: "heartbeat", sequence: this.#position })
    for (const { live } of this.#views.values()) for (const subscription of live) subscription.send(frame)
  }

  /** Everything up to now, of the given symbols of a topic. */
  snapshotOf(topic: Topic, symbols: ReadonlyArray<string>): Snapshot {
    return this.#snapshot(new View(topic, symbols))
  }

  /** The sequences between which an asset's events can be replayed, and its last event. */
  windowOf(asset: StreamAssetKey): { readonly completeAfter: number; readonly latest: MarketEvent | undefined } {
    const window = this.#windows.get(asset)
    return { completeAfter: window?.completeAfter ?? this.#completeAfter, latest: window?.latest?.event }
  }

  /** The topics that clients follow on this worker. */
  topics(): ReadonlyArray<TopicState> {
    return [...this.#views.values()].map(({ assets, clients, topicName }) => ({ topic: topicName, clients, assets }))
  }

  passage(view: View, after: number): Passage | undefined {
    const key = `${view.key}@${after}`
    const known = this.#passages.get(key)
    if (known !== undefined && (!known.isLast || known.through === this.#position)) return known
    const parts: Array<FramedEvent> = []
    for (const asset of view.assets) {
      const events = this.#windowOf(asset).after(after, passageLimit)
      if (events === undefined) return undefined
      parts.push(...events)
    }
    if (view.assets.length > 1) parts.sort((a, b) => a.sequence - b.sequence)
    const isLast = parts.length <= passageLimit && !this.#hasMore(view, parts, after)
    const events = isLast ? parts : parts.slice(0, passageLimit)
    const through = isLast ? this.#position : events.at(-1)!.sequence
    const passage = { through, isLast, bytes: events.length === 0 ? nothing : view.framed(events) }
    this.#keepPassage(key, passage)
    return passage
  }

  latest(view: View, after: number): Uint8Array | undefined {
    const events = view.assets
      .map((asset) => this.#windows.get(asset)?.latest)
      .filter((event) => event !== undefined && event.sequence > after)
      .sort((a, b) => a!.sequence - b!.sequence)
    return events.length === 0 ? undefined : joined(events.map((event) => event!.frame(view.topicName)))
  }

  snapshot(view: View): Uint8Array {
    return encode(this.#snapshot(view))
  }

  #snapshot({ assets, topicName: topic }: View): Snapshot {
    const items = assets.flatMap((asset) => {
      const event = this.#windows.get(asset)?.latest?.event
      return event === undefined ? [] : [{ symbol: event.symbol, sequence: event.sequence, data: event.data }]
    })
    return { v: 1, type: "snapshot", topic, sequence: this.#position, items }
  }

  /** One asset may have more behind the limit even where all together have not passed it. */
  #hasMore(view: View, parts: ReadonlyArray<FramedEvent>, after: number): boolean {
    if (parts.length < passageLimit) return false
    const count = view.assets.reduce(
      (sum, asset) => sum + (this.#windowOf(asset).after(after, passageLimit + 1)?.length ?? 0),
      0
    )
    return count > parts.length
  }

  #keepPassage(key: string, passage: Passage): void {
    this.#passages.delete(key)
    this.#passages.set(key, passage)
    if (this.#passages.size > maxPassages) this.#passages.delete(this.#passages.keys().next().value!)
  }

  #windowOf(asset: StreamAssetKey): ReplayWindow<FramedEvent> {
    const known = this.#windows.get(asset)
    if (known !== undefined) return known
    const window = new ReplayWindow<FramedEvent>(this.#settings.replayWindow, this.#completeAfter)
    this.#windows.set(asset, window)
    return window
  }

  #openView(topic: Topic, symbols: ReadonlyArray<string>): View {
    const known = this.#views.get(viewKey(topic, symbols))
    if (known !== undefined) return known
    const view = new View(topic, symbols)
    this.#views.set(view.key, view)
    for (const asset of view.assets) {
      const views = this.#viewsOfAsset.get(asset) ?? new Set()
      this.#viewsOfAsset.set(asset, views.add(view))
    }
    return view
  }
}

export class Hub extends Context.Service<Hub, HubState>()("ballast/stream/Hub") {
  static readonly layer = Layer.effect(
    Hub,
    Effect.map(WorkerSettings, (settings) => Hub.of(new HubState(settings, 0)))
  )
}

/**
 * The promise of the stream, against an oracle that knows nothing of windows, cursors and batches: a list of everything
 * that was published.
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import type { MarketEvent } from "#domain/stream/MarketData.ts"
import { assetTopic, collectionTopic, type Topic } from "#domain/stream/Topic.ts"
import { HubState } from "#stream/Hub.ts"
import type { Subscription } from "#stream/Subscription.ts"
import { eventOf, tick } from "#test/stream/support/events.ts"
import { FakeSocket } from "#test/stream/support/FakeSocket.ts"

const base = 1_000
const replayWindow = 6
const assets = [
  ["equity", "TSLA"],
  ["equity", "AAPL"],
  ["crypto", "ETH"],
  ["crypto", "BTC"]
] as const
const follows: ReadonlyArray<readonly [Topic, ReadonlyArray<string>]> = [
  [assetTopic("equity", "TSLA"), ["TSLA"]],
  [assetTopic("crypto", "ETH"), ["ETH"]],
  [collectionTopic("stocks"), ["TSLA", "AAPL"]],
  [collectionTopic("watchlist"), ["AAPL"]],
  [collectionTopic("crypto"), ["ETH", "BTC"]]
]

/** What one user of the stream sees over all its connections, checked frame by frame. */
class Client {
  readonly topic: Topic
  readonly symbols: ReadonlyArray<string>
  /** Everything of the topic up to here is accounted for. */
  through = 0
  hasBegun = false
  skips = 0
  gaps = 0
  socket: FakeSocket | undefined
  subscription: Subscription | undefined
  #read = 0
  #gapFrom: number | undefined
  #skipped: { readonly after: number; readonly through: number; readonly latest: Map<string, number> } | undefined

  constructor([topic, symbols]: (typeof follows)[number]) {
    this.topic = topic
    this.symbols = symbols
  }

  own(log: ReadonlyArray<MarketEvent>): ReadonlyArray<MarketEvent> {
    return log.filter((event) => event.assetClass === this.topic.assetClass && this.symbols.includes(event.symbol))
  }

  connect(hub: HubState): void {
    this.socket = new FakeSocket()
    this.#read = 0
    this.#skipped = undefined
    this.subscription = hub.subscribe(this.topic, this.symbols, this.socket)
    this.subscription.begin(this.hasBegun ? this.through : undefined)
  }

  disconnect(hub: HubState): void {
    if (this.subscription !== undefined) hub.unsubscribe(this.subscription)
    this.subscription = undefined
    this.socket = undefined
  }

  check(log: ReadonlyArray<MarketEvent>): void {
    const own = this.own(log)
    for (const frame of this.socket?.received.slice(this.#read) ?? []) this.#take(frame, own)
    this.#read = this.socket?.received.length ?? 0
  }

  #take(frame: any, own: ReadonlyArray<MarketEvent>): void {
    if (frame.type === "gap") {
      this.gaps += 1
      this.#gapFrom = this.through
      assert.strictEqual(frame.afterSequence, this.through, "a gap names the sequence that was asked for")
      const lost = this.symbols.some(
        (symbol) =>
          own.filter((event) => event.symbol === symbol && event.sequence > this.through).length > replayWindow
      )
      assert.isTrue(lost, "a gap is said only of events that are out of the window")
    } else if (frame.type === "snapshot") {
      assert.isTrue(!this.hasBegun || this.#gapFrom !== undefined, "a snapshot comes first or after a gap")
      for (const symbol of this.symbols) {
        const latest = own.findLast((event) => event.symbol === symbol && event.sequence <= frame.sequence)
        const item = frame.items.find((one: any) => one.symbol === symbol)
        assert.strictEqual(item?.sequence, latest?.sequence, "a snapshot has the latest of each symbol")
      }
      this.hasBegun = true
      this.#gapFrom = undefined
      this.through = frame.sequence
    } else if (frame.type === "skipped") {
      assert.strictEqual(this.topic.assetClass, "crypto", "bars are never skipped")
      assert.strictEqual(frame.afterSequence >= this.through, true)
      const between = own.filter((event) => event.sequence > this.through && event.sequence <= frame.afterSequence)
      assert.deepStrictEqual(between, [], "nothing is missing before what was skipped")
      this.skips += 1
      const passed = own.filter((event) => event.sequence > frame.afterSequence && event.sequence <= frame.sequence)
      this.#skipped = {
        after: frame.afterSequence,
        through: frame.sequence,
        latest: new Map(passed.map((event) => [event.symbol, event.sequence]))
      }
      this.through = frame.afterSequence
    } else {
      this.#takeEvent(frame, own)
    }
  }

  #takeEvent(frame: any, own: ReadonlyArray<MarketEvent>): void {
    const event = own.find(({ sequence }) => sequence === frame.sequence)
    assert.isDefined(event, "only published events of the topic come")
    assert.isAbove(frame.sequence, this.through, "nothing comes twice or out of order")
    if (this.#skipped !== undefined && frame.sequence <= this.#skipped.through) {
      assert.strictEqual(
        this.#skipped.latest.get(frame.symbol),
        frame.sequence,
        "the latest stand for what was skipped"
      )
      this.#skipped.latest.delete(frame.symbol)
      this.through = frame.sequence
      return
    }
    this.finishSkip()
    const next = own.find(({ sequence }) => sequence > this.through)
    assert.strictEqual(frame.sequence, next?.sequence, "the next event of the topic comes next")
    this.through = frame.sequence
  }

  finishSkip(): void {
    if (this.#skipped === undefined) return
    assert.strictEqual(this.#skipped.latest.size, 0, "each changed asset's latest came")
    this.through = Math.max(this.through, this.#skipped.through)
    this.#skipped = undefined
  }
}

type Action =
  | { readonly do: "publish"; readonly assets: ReadonlyArray<number> }
  | { readonly do: "connect" | "disconnect" | "stop" | "read"; readonly client: number }

const clientCount = 10
const who = fc.nat(clientCount - 1)
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("publish" as const),
      assets: fc.array(fc.nat(3), { minLength: 1, maxLength: 5 })
    })
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constantFrom("connect" as const, "disconnect", "stop", "read"), client: who })
  }
)

const run = (actions: ReadonlyArray<Action>) => {
  const bytesPerSocket = 300
  const hub = new HubState({ bytesPerSocket, replayWindow }, base)
  const log: Array<MarketEvent> = []
  const last = new Map<string, number>()
  const clients = Array.from({ length: clientCount }, (_, index) => new Client(follows[index % follows.length]!))
  const drop = (client: Client) => {
    client.check(log)
    client.finishSkip()
    client.disconnect(hub)
  }
  for (const step of actions) {
    if (step.do === "publish") {
      const batch = step.assets.map((index) => {
        const [assetClass, symbol] = assets[index]!
        const sequence = base + log.length + 1
        const event = eventOf(tick(assetClass, symbol, sequence), sequence, last.get(symbol) ?? 0)
        last.set(symbol, sequence)
        log.push(event)
        return event
      })
      hub.ingest(batch)
    } else {
      const client = clients[step.client]!
      const { socket } = client
      if (step.do === "connect" && socket === undefined) client.connect(hub)
      if (step.do === "disconnect" && socket !== undefined) drop(client)
      if (step.do === "stop" && socket !== undefined) socket.isReading = false
      if (step.do === "read") socket?.readAll()
    }
    for (const client of clients) {
      client.check(log)
      // A client of the real thing reconnects when it is asked to.
      if (client.socket?.closed !== undefined) drop(client)
    }
  }
  // All come back and read: nobody is left without the end of the log.
  for (const client of clients) {
    for (let rounds = 0; rounds < 3; rounds += 1) {
      if (client.socket === undefined) client.connect(hub)
      for (let reads = 0; reads < 20; reads += 1) client.socket!.readAll()
      client.check(log)
      client.finishSkip()
      if (client.socket!.closed !== undefined) drop(client)
    }
    const end = client.own(log).at(-1)
    assert.isTrue(end === undefined || client.through >= end.sequence, "everybody has everything at last")
    if (client.socket !== undefined) assert.isAtMost(client.socket.maxPending, 8_192)
    client.disconnect(hub)
  }
  assert.deepStrictEqual(hub.topics(), [], "who has gone leaves nothing behind")
  return clients
}

describe("the hub", () => {
  it("loses and repeats nothing across snapshot, replay and live, for random schedules of disconnects and slow readers", () => {
    let skips = 0
    let gaps = 0
    fc.assert(
      fc.property(fc.array(action, { minLength: 20, maxLength: 120 }), (actions) => {
        const clients = run(actions)
        skips += clients.reduce((sum, client) => sum + client.skips, 0)
        gaps += clients.reduce((sum, client) => sum + client.gaps, 0)
      }),
      { numRuns: 200 }
    )
    assert.isAbove(skips, 10, "the schedules made clients fall behind")
    assert.isAbove(gaps, 10, "the schedules made clients come back too late")
  })

  it("encodes an event once for all sockets of a topic: they are given the same bytes, live and replayed", () => {
    const hub = new HubState({ bytesPerSocket: 1_000, replayWindow }, base)
    const open = (afterSequence?: number) => {
      const written: Array<Uint8Array> = []
      const socket = new FakeSocket()
      const outlet = { ...socket, write: (frames: Uint8Array) => void written.push(frames) }
      hub.subscribe(assetTopic("equity", "TSLA"), ["TSLA"], outlet).begin(afterSequence)
      return written
    }
    const live = [open(), open(), open()]
    hub.ingest([eventOf(tick("equity", "TSLA", 1), base + 1, 0)])
    const events = live.map((written) => written.at(-1))
    assert.strictEqual(new Set(events).size, 1, "one array for all")
    const late = [open(base), open(base)].map((written) => written.at(-1))
    assert.deepStrictEqual(new Set([...events, ...late]).size, 1)
  })

  it("says that a sequence is not known, and begins anew", () => {
    const hub = new HubState({ bytesPerSocket: 1_000, replayWindow }, base)
    const socket = new FakeSocket()
    hub.subscribe(assetTopic("crypto", "ETH"), ["ETH"], socket).begin(base + 5)
    assert.deepStrictEqual(
      socket.received.map(({ type, reason, sequence }) => [type, reason ?? sequence]),
      [
        ["gap", "unknown"],
        ["snapshot", base]
      ]
    )
  })

  it("notifies connected clients when events before the next were lost on the way, by their links", () => {
    const hub = new HubState({ bytesPerSocket: 1_000, replayWindow }, base)
    const socket = new FakeSocket()
    hub.subscribe(assetTopic("crypto", "ETH"), ["ETH"], socket).begin(undefined)
    hub.ingest([eventOf(tick("crypto", "ETH", 1), base + 1, 0)])
    hub.ingest([eventOf(tick("crypto", "ETH", 3), base + 3, base + 2)])
    assert.deepStrictEqual(
      socket.received.map(({ type, sequence, afterSequence }) => [type, sequence ?? afterSequence]),
      [
        ["snapshot", base],
        ["event", base + 1],
        ["gap", base + 1],
        ["snapshot", base + 3]
      ]
    )
  })
})

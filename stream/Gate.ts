/** Admits clients to sockets, and what happens on one. */
import { Effect, Layer, Metric } from "effect"
import { closeCodes } from "#domain/stream/Frame.ts"
import type { Outlet, StreamSession } from "#domain/stream/Outlet.ts"
import { type Handshake, SocketGate, type StreamRefusal } from "#domain/stream/SocketGate.ts"
import * as Metrics from "#domain/stream/WorkerMetrics.ts"
import { WorkerSettings } from "#domain/stream/WorkerSettings.ts"
import { Access } from "#stream/Access.ts"
import { encode } from "#stream/frames.ts"
import { Hub } from "#stream/Hub.ts"
import { Intake } from "#stream/Intake.ts"
import {
  invalidRequest,
  notReady,
  originNotAllowed,
  tooManySockets,
  tooManySocketsOfAddress
} from "#stream/refusals.ts"
import type { Subscription } from "#stream/Subscription.ts"

/** Messages that a client may send between two heartbeats. */
const messagesPerHeartbeat = 30
const pong = encode({ v: 1, type: "pong" })

const isPing = (text: string): boolean => /^\s*\{\s*"type"\s*:\s*"ping"\s*\}\s*$/u.test(text)

const sequenceOf = (text: string | null): Effect.Effect<number | undefined, StreamRefusal> => {
  if (text === null) return Effect.succeed(undefined)
  const sequence = /^[0-9]{1,16}$/u.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(sequence)
    ? Effect.succeed(sequence)
    : Effect.fail(invalidRequest("afterSequence: expected the last sequence that the client has seen"))
}

interface GateState {
  /** Heartbeats so far. */
  heartbeats: number
  readonly left: (address: string, subscription: Subscription) => void
}

interface Client {
  readonly address: string
  readonly outlet: Outlet
  readonly subscription: Subscription
}

/** What is kept of a client while it is connected: an object, not closures, which would keep its whole handshake. */
class ClientSession implements StreamSession {
  readonly #gate: GateState
  readonly #address: string
  readonly #outlet: Outlet
  readonly #subscription: Subscription
  #messages = 0
  #since = 0

  constructor(gate: GateState, { address, outlet, subscription }: Client) {
    this.#gate = gate
    this.#address = address
    this.#outlet = outlet
    this.#subscription = subscription
  }

  received(text: string): void {
    if (this.#since !== this.#gate.heartbeats) this.#messages = 0
    this.#since = this.#gate.heartbeats
    this.#messages += 1
    if (this.#messages > messagesPerHeartbeat) return this.#outlet.close(closeCodes.tooManyMessages)
    if (!isPing(text)) return this.#outlet.close(closeCodes.unexpectedMessage)
    this.#subscription.send(pong)
  }

  ended(): void {
    this.#gate.left(this.#address, this.#subscription)
  }
}

export const Gate = Layer.effect(
  SocketGate,
  Effect.gen(function* () {
    const access = yield* Access
    const hub = yield* Hub
    const intake = yield* Intake
    const settings = yield* WorkerSettings
    const context = yield* Effect.context<never>()
    const ofAddress = new Map<string, number>()
    let open = 0

    const count = (address: string, change: number) => {
      open += change
      const ofThis = (ofAddress.get(address) ?? 0) + change
      if (ofThis === 0) ofAddress.delete(address)
      else ofAddress.set(address, ofThis)
      Effect.runSyncWith(context)(Metric.update(Metrics.openSockets, open))
    }

    const gate: GateState = {
      heartbeats: 0,
      left: (address, subscription) => {
        count(address, -1)
        hub.unsubscribe(subscription)
      }
    }

    const admit = Effect.fnUntraced(
      function* ({ address, origin, path, query }: Handshake) {
        if (!(yield* intake.isReady)) return yield* notReady
        const { allowedOrigins, maxSockets, maxSocketsPerAddress } = settings
        if (origin !== undefined && allowedOrigins !== null && !allowedOrigins.includes(origin)) {
          return yield* originNotAllowed
        }
        const { symbols, topic } = yield* access.check(path, "ws", query.get("token") ?? undefined)
        const afterSequence = yield* sequenceOf(query.get("afterSequence"))
        // A client that comes from another worker may have seen more than this one has yet.
        if (afterSequence !== undefined && afterSequence > hub.position()) yield* intake.catchUp
        if (open >= maxSockets) return yield* tooManySockets
        if ((ofAddress.get(address) ?? 0) >= maxSocketsPerAddress) return yield* tooManySocketsOfAddress

        return (outlet: Outlet): StreamSession => {
          count(address, 1)
          const subscription = hub.subscribe(topic, symbols, outlet)
          subscription.begin(afterSequence)
          return new ClientSession(gate, { address, outlet, subscription })
        }
      },
      Effect.tapError(({ error }) => Metric.update(Metric.withAttributes(Metrics.refusals, { error }), 1))
    )

    return SocketGate.of({
      admit,
      heartbeat: () => {
        gate.heartbeats += 1
        hub.heartbeat()
      }
    })
  })
)

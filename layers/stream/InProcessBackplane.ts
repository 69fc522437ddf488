/**
 * The backplane of a deployment of one worker: its own memory. The order begins anew with every process, above all
 * sequences of earlier ones as long as fewer than a million events a second are published and the clock is not set
 * back.
 */
import { Clock, Effect, Layer, Option, PubSub, Queue, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import { type Announcement, Backplane, type SharedEntry } from "#domain/stream/Backplane.ts"
import { streamKeyOf, type MarketEvent } from "#domain/stream/MarketData.ts"
import { misplaced } from "#domain/stream/readTick.ts"
import type { StreamAssetKey } from "#domain/stream/Topic.ts"

/** Events that may wait for the hub; the link of the next one shows that one was dropped, and clients are notified. */
const maxWaiting = 100_000

export const InProcessBackplane = Layer.effect(
  Backplane,
  Effect.gen(function* () {
    const random = yield* SecureRandom.SecureRandom
    const workerId = Hex.encode(yield* Effect.orDie(random.randomBytes(8)))
    const beginning = (yield* Clock.currentTimeMillis) * 1_000
    const events = yield* Queue.sliding<MarketEvent>(maxWaiting)
    const changes = yield* PubSub.sliding<SharedEntry>(maxWaiting)
    const announcements = yield* PubSub.sliding<Announcement>(8)
    const last = new Map<StreamAssetKey, MarketEvent>()
    const values = new Map<string, string>()
    let position = beginning

    return Backplane.of({
      workerId,
      isReachable: Effect.succeed(true),
      append: (tick) =>
        Effect.sync(() => {
          const asset = streamKeyOf(tick)
          const before = last.get(asset)
          const reason = misplaced(tick.data, before?.data)
          if (reason !== undefined) return Option.some(reason)
          position += 1
          const event = { ...tick, sequence: position, previous: before?.sequence ?? 0 }
          last.set(asset, event)
          Queue.offerUnsafe(events, event)
          return Option.none()
        }),
      position: Effect.sync(() => position),
      feed: Effect.succeed({ completeAfter: beginning, events: Stream.chunks(Stream.fromQueue(events)) }),
      leases: Stream.concat(Stream.succeed(Option.some({ epoch: 1, isCurrent: () => true })), Stream.never),
      share: (entries) =>
        Effect.sync(() => {
          for (const entry of entries) {
            values.set(entry.key, entry.value)
            PubSub.publishUnsafe(changes, entry)
          }
        }),
      shared: Stream.unwrap(
        Effect.map(PubSub.subscribe(changes), (later) =>
          Stream.concat(
            Stream.succeed([...values].map(([key, value]) => ({ key, value }))),
            Stream.chunks(Stream.fromSubscription(later))
          )
        )
      ),
      announce: (value) => Effect.asVoid(PubSub.publish(announcements, { workerId, value })),
      announced: Stream.fromPubSub(announcements)
    })
  })
)

/**
 * The backplane of a deployment of several workers, on NATS with JetStream: events are one stream with one sequence,
 * shared values and the lease are key-value stores, announcements are plain messages.
 */
import { Effect, Layer, Schema, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import { Backplane, BackplaneUnavailable } from "#domain/stream/Backplane.ts"
import type { MarketEvent } from "#domain/stream/MarketData.ts"
import { makeAppend, readStored } from "#layers/stream/nats/appendEvent.ts"
import { attempt, connectNats, type NatsBackplaneOptions } from "#layers/stream/nats/connectNats.ts"
import { holdLease } from "#layers/stream/nats/holdLease.ts"

const AnnouncementJson = Schema.fromJsonString(Schema.Struct({ workerId: Schema.String, value: Schema.String }))
const decodeAnnouncement = Schema.decodeUnknownOption(AnnouncementJson)
const encodeAnnouncement = Schema.encodeSync(AnnouncementJson)

const brokeOff = (what: string) => (cause: unknown) =>
  new BackplaneUnavailable({ reason: `${what}: ${cause instanceof Error ? cause.message : String(cause)}` })

/** A source that ends has broken off: what reads it begins again. */
const endless = <A>(what: string, source: AsyncIterable<A>) =>
  Stream.concat(
    Stream.fromAsyncIterable(source, brokeOff(what)),
    Stream.fail(new BackplaneUnavailable({ reason: `${what} ended` }))
  )

export const NatsBackplane = (options: NatsBackplaneOptions) =>
  Layer.effect(
    Backplane,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const workerId = Hex.encode(yield* Effect.orDie(random.randomBytes(8)))
      const nats = yield* connectNats(options)
      const { connection, jetstream, manager, shared, state, stream } = nats
      const { offset } = stream
      const placed = (previous: number) => (previous === 0 ? 0 : offset + previous)
      const subject = `${options.prefix}.announce`

      const events = Stream.unwrap(
        Effect.gen(function* () {
          const consumer = yield* attempt("consumer", () => jetstream.consumers.get(stream.name))
          const messages = yield* Effect.acquireRelease(
            attempt("consumer", () => consumer.consume({ max_messages: 1_000 })),
            (open) => Effect.promise(() => open.close().catch(() => undefined))
          )
          return endless("events", messages).pipe(
            Stream.map((message): ReadonlyArray<MarketEvent> => {
              const stored = readStored(message.string())
              return stored._tag === "None"
                ? []
                : [{ ...stored.value.tick, sequence: offset + message.seq, previous: placed(stored.value.previous) }]
            }),
            Stream.chunks,
            Stream.map((batches) => batches.flat())
          )
        })
      )

      const sharedEntries = Stream.unwrap(
        Effect.gen(function* () {
          const entries = yield* Effect.acquireRelease(
            attempt("shared values", () => shared.watch()),
            (open) => Effect.sync(() => open.stop())
          )
          return endless("shared values", entries).pipe(
            Stream.filter(({ operation }) => operation === "PUT"),
            Stream.map((entry) => [{ key: entry.key, value: entry.string() }])
          )
        })
      )

      const announced = Stream.unwrap(
        Effect.gen(function* () {
          const subscription = yield* Effect.acquireRelease(
            Effect.sync(() => connection.subscribe(subject)),
            (open) => Effect.sync(() => open.unsubscribe())
          )
          return endless("announcements", subscription).pipe(
            Stream.map((message) => decodeAnnouncement(message.string())),
            Stream.filter((one) => one._tag === "Some"),
            Stream.map(({ value }) => value)
          )
        })
      )

      return Backplane.of({
        workerId,
        isReachable: Effect.sync(() => state.isConnected && !connection.isClosed()),
        append: makeAppend(nats, options.prefix),
        position: Effect.map(
          attempt("position", () => manager.streams.info(stream.name)),
          (info) => offset + info.state.last_seq
        ),
        feed: Effect.succeed({ completeAfter: offset, events }),
        leases: holdLease(nats, workerId),
        share: (entries) =>
          Effect.forEach(entries, ({ key, value }) => attempt("share", () => shared.put(key, value)), {
            concurrency: 16,
            discard: true
          }),
        shared: sharedEntries,
        announce: (value) =>
          Effect.try({
            try: () => connection.publish(subject, encodeAnnouncement({ workerId, value })),
            catch: brokeOff("announce")
          }),
        announced
      })
    })
  )

/**
 * Gives a tick its sequence in JetStream by compare-and-set: a message names the sequence of the asset's last one, and
 * the server accepts it only while that is so. A writer has therefore seen the event before: nothing comes twice or out
 * of order however many workers write as holders of the lease. One with an older lease checks the clock before it
 * writes, and finds the newer epoch where the clock did not show it.
 */
import { JetStreamApiCodes, JetStreamApiError } from "@nats-io/jetstream"
import { Effect, Option, Schema } from "effect"
import { BackplaneUnavailable, type Lease } from "#domain/stream/Backplane.ts"
import { streamKeyOf, MarketUpdate } from "#domain/stream/MarketData.ts"
import { type DropReason, misplaced } from "#domain/stream/readTick.ts"
import type { StreamAssetKey } from "#domain/stream/Topic.ts"
import { attempt, type Nats } from "#layers/stream/nats/connectNats.ts"

/** An event as it is stored; its sequence is the message's, and `previous` counts as the stream does. */
const StoredEvent = Schema.fromJsonString(
  Schema.Struct({ tick: MarketUpdate, previous: Schema.Int, epoch: Schema.Int })
)
const decode = Schema.decodeUnknownOption(StoredEvent)
const encode = Schema.encodeSync(StoredEvent)
export const readStored = decode

interface Last {
  readonly sequence: number
  readonly tick: MarketUpdate | undefined
  readonly epoch: number
}

const maxTries = 5

export const makeAppend = ({ jetstream, manager, stream }: Nats, prefix: string) => {
  const known = new Map<StreamAssetKey, Last>()

  const lastOf = Effect.fnUntraced(function* (asset: StreamAssetKey, subject: string) {
    const cached = known.get(asset)
    if (cached !== undefined) return cached
    const message = yield* attempt("last event", () =>
      manager.streams.getMessage(stream.name, { last_by_subj: subject })
    )
    const stored = message === null ? Option.none() : decode(message.string())
    return {
      sequence: message?.seq ?? 0,
      tick: Option.getOrUndefined(stored)?.tick,
      epoch: Option.getOrUndefined(stored)?.epoch ?? 0
    } satisfies Last as Last
  })

  const publish = (subject: string, body: string, after: number) =>
    Effect.tryPromise({
      try: () => jetstream.publish(subject, body, { expect: { lastSubjectSequence: after }, timeout: 2_000 }),
      catch: (cause) =>
        cause instanceof JetStreamApiError && cause.code === JetStreamApiCodes.StreamWrongLastSequence
          ? ("overtaken" as const)
          : new BackplaneUnavailable({ reason: `publish: ${cause instanceof Error ? cause.message : String(cause)}` })
    })

  return Effect.fnUntraced(function* (tick: MarketUpdate, lease: Lease) {
    const asset = streamKeyOf(tick)
    const subject = `${prefix}.market.${tick.assetClass}.${tick.symbol}`
    for (let tries = 0; tries < maxTries; tries += 1) {
      const last = yield* lastOf(asset, subject)
      if (last.epoch > lease.epoch || !lease.isCurrent()) return Option.some<DropReason | "fenced">("fenced")
      const reason = misplaced(tick.data, last.tick?.data)
      if (reason !== undefined) {
        known.set(asset, last)
        return Option.some<DropReason | "fenced">(reason)
      }
      const body = encode({ tick, previous: last.sequence, epoch: lease.epoch })
      // After any failure the cached sequence may be wrong: the message may have been accepted and its answer lost.
      known.delete(asset)
      const outcome = yield* publish(subject, body, last.sequence).pipe(
        Effect.catch((failure) => (failure === "overtaken" ? Effect.succeed(failure) : Effect.fail(failure)))
      )
      if (outcome === "overtaken") continue
      known.set(asset, { sequence: outcome.seq, tick, epoch: lease.epoch })
      return Option.none()
    }
    return yield* new BackplaneUnavailable({ reason: `${asset} was overtaken ${maxTries} times` })
  })
}

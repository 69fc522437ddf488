/**
 * Bars of a second from Massive's stocks socket, for the followed symbols.
 *
 * One connection, held while this feed runs. A lost one is made anew after a pause that doubles up to half a minute,
 * with jitter; a refused key is not tried again; and where another connection with the same key pushed ours out, the
 * pause is the longest from the start, since each of the two would push the other out for ever.
 */
import { Clock, Duration, Effect, Layer, Option, Queue, type Redacted, Result, Schedule, Stream, Context } from "effect"
import { SecureRandom } from "effect/crypto"
import type { FeedItem, FeedRefused, FeedState, MarketFeed } from "#domain/stream/MarketFeed.ts"
import type { PublicAsset } from "#domain/stream/PublicAsset.ts"
import { sleepRealTime, withinRealTime } from "#layers/clock/withinRealTime.ts"
import { readFrame } from "#layers/market/massive/frames.ts"
import { ConnectionLost, judge, openSocket } from "#layers/market/massive/MassiveSocket.ts"

/** Where Massive's stocks socket is, and the key for it. */
export class MassiveConfig extends Context.Service<
  MassiveConfig,
  { readonly url: string; readonly apiKey: Redacted.Redacted }
>()("ballast/layers/market/massive/MassiveConfig") {}

const firstPause = 500
const longestPause = 30_000
const loginLimit = Duration.seconds(10)
/** How often changes of what is followed are polled for. */
const checkInterval = Duration.millis(250)
/** Batches that wait to be taken; the oldest are pushed out. */
const maxWaiting = 1_000

const connected: FeedState = { status: "connected", attempt: 0, nextAttemptAt: null, reason: null }

/** Draws between half and the whole of a pause that doubles with each failure. `chance` is 0 to 1. */
export const pauseAfter = (attempt: number, isSurplus: boolean, chance: number): number => {
  const whole = isSurplus ? longestPause : Math.min(longestPause, firstPause * 2 ** Math.min(attempt - 1, 10))
  return Math.round((whole * (1 + chance)) / 2)
}

export const makeMassiveFeed = Effect.gen(function* () {
  const { apiKey, url } = yield* MassiveConfig
  const random = yield* SecureRandom.SecureRandom

  const session = Effect.fnUntraced(function* (
    wanted: Effect.Effect<ReadonlyArray<PublicAsset>>,
    report: (state: FeedState) => void,
    out: Queue.Queue<ReadonlyArray<FeedItem>, FeedRefused>
  ) {
    const socket = yield* openSocket(url)
    const held = new Set<string>()

    /** The next frame, its statuses judged. */
    const next = Effect.gen(function* () {
      const frame = readFrame(yield* socket.frame)
      for (const { message = "", status } of frame.statuses) yield* judge(status, message)
      return frame
    })
    const until = (status: string) =>
      Effect.repeat(next, { until: ({ statuses }) => statuses.some((one) => one.status === status) })

    const login = Effect.gen(function* () {
      yield* until("connected")
      socket.authenticate(apiKey)
      yield* until("auth_success")
    })
    yield* withinRealTime(
      loginLimit,
      () => new ConnectionLost({ reason: "no answer to the key", isSurplus: false })
    )(login)
    report(connected)

    const subscribe = Effect.map(wanted, (assets) => {
      const symbols = new Set(assets.map(({ symbol }) => symbol))
      const added = [...symbols].filter((symbol) => !held.has(symbol))
      const removed = [...held].filter((symbol) => !symbols.has(symbol))
      if (added.length > 0) socket.subscribe(added)
      if (removed.length > 0) socket.unsubscribe(removed)
      for (const symbol of added) held.add(symbol)
      for (const symbol of removed) held.delete(symbol)
    })
    const following = Effect.andThen(subscribe, sleepRealTime(checkInterval)).pipe(Effect.repeat(Schedule.forever))
    const reading = next.pipe(
      Effect.map(({ items }) => items.filter((item) => Result.isFailure(item) || held.has(item.success.symbol))),
      Effect.tap((items) => (items.length === 0 ? Effect.void : Queue.offer(out, items))),
      Effect.repeat(Schedule.forever)
    )
    yield* Effect.raceFirst(following, reading)
  }, Effect.scoped)

  const feed: MarketFeed = {
    provider: "massive",
    isPolled: false,
    figures: (wanted, report) =>
      Stream.unwrap(
        Effect.gen(function* () {
          const out = yield* Queue.sliding<ReadonlyArray<FeedItem>, FeedRefused>(maxWaiting)
          let attempt = 0
          const watched = (state: FeedState) => {
            if (state.status === "connected") attempt = 0
            report(state)
          }
          const once = Effect.gen(function* () {
            report({ status: "connecting", attempt, nextAttemptAt: null, reason: null })
            const end = yield* Effect.flip(Effect.andThen(session(wanted, watched, out), Effect.never))
            if (end._tag === "FeedRefused") return yield* Queue.fail(out, end)
            attempt += 1
            const [byte = 0] = yield* random.randomBytes(1)
            const pause = pauseAfter(attempt, end.isSurplus, byte / 255)
            const nextAttemptAt = (yield* Clock.currentTimeMillis) + pause
            report({ status: "disconnected", attempt, nextAttemptAt, reason: end.reason })
            yield* Effect.logWarning(`The connection to Massive ended: ${end.reason}. The next is made in ${pause} ms`)
            yield* sleepRealTime(Duration.millis(pause))
            return false
          })
          yield* Effect.forkScoped(Effect.repeat(once, { until: (isOver) => isOver }))
          return Stream.fromQueue(out)
        })
      )
  }
  return feed
})

/** The feed, where there is a key for it. */
export const massiveFeed = (config: { readonly url: string; readonly apiKey: Redacted.Redacted | null }) =>
  config.apiKey === null
    ? Effect.succeed(Option.none<MarketFeed>())
    : Effect.asSome(makeMassiveFeed).pipe(
        Effect.provide(Layer.succeed(MassiveConfig, { url: config.url, apiKey: config.apiKey }))
      )

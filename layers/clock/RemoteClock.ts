/**
 * Makes a program follow another machine's time instead of the system's.
 *
 * `GET url` answers `{now, version}` (Unix milliseconds and a counter of settings); `GET
 * url?after=<version>&id=<follower>` answers once the version is above `after`, or unchanged after some 25 seconds.
 * The next request with the new version confirms to the remote side that this follower has applied the setting.
 */
import { Clock, Duration, Effect, Layer, Schedule, Schema } from "effect"
import { FetchHttpClient, HttpClient, HttpClientResponse } from "effect/http"
import { FollowingClock } from "#layers/clock/FollowingClock.ts"
import { withinRealTime } from "#layers/clock/withinRealTime.ts"

/** Where the time comes from, and a name for this process that no other follower has. */
export interface RemoteClockOptions {
  readonly url: string
  readonly followerId: string
}

/** The remote clock did not answer while the program was starting. */
class RemoteClockUnavailable extends Schema.TaggedError<RemoteClockUnavailable>()("RemoteClockUnavailable", {
  url: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `The clock at ${this.url} did not answer: ${this.reason}. Start it, or unset CLOCK_URL to use the system's clock`
  }
}

const Setting = Schema.Struct({ now: Schema.Finite.check(Schema.isGreaterThan(0)), version: Schema.Int })

const startRetries = 40
const firstAnswerLimit = Duration.seconds(2)
const longPollLimit = Duration.seconds(40)
const retryBase = Duration.millis(50)
const retryCap = Duration.seconds(2)
/**
 * Pause between two polls without news, so that a server that does not hold the request is not polled in a tight loop.
 */
const idlePause = Duration.millis(200)

const retryDelay = (failures: number): Duration.Duration =>
  Duration.min(Duration.times(retryBase, 2 ** Math.min(failures, 10)), retryCap)

const make = Effect.fnUntraced(function* ({ url, followerId }: RemoteClockOptions) {
  const client = yield* HttpClient.HttpClient
  // Everything here waits on the machine's clock: the layer replaces the clock only for what is built on top of it.
  const local = yield* Clock.Clock

  const ask = (params: Record<string, string>, limit: Duration.Duration) =>
    client.get(url, { urlParams: params }).pipe(
      Effect.flatMap(HttpClientResponse.filterStatusOk),
      Effect.flatMap(HttpClientResponse.schemaBodyJson(Setting)),
      Effect.mapError((error) => error.message),
      withinRealTime(limit, () => `no answer in ${Duration.format(limit)}`),
      Effect.withTracerEnabled(false)
    )

  const first = yield* ask({}, firstAnswerLimit).pipe(
    Effect.retry({ schedule: Schedule.spaced("250 millis"), times: startRetries }),
    Effect.mapError((reason) => new RemoteClockUnavailable({ url, reason }))
  )
  const clock = new FollowingClock(local, first.now)

  let version = first.version
  let failures = 0
  const follow = Effect.suspend(() => ask({ after: String(version), id: followerId }, longPollLimit)).pipe(
    Effect.matchEffect({
      onSuccess: Effect.fnUntraced(function* (setting) {
        if (failures > 0) yield* Effect.logInfo(`The clock at ${url} answers again`)
        failures = 0
        const isNews = setting.version !== version
        version = setting.version
        clock.set(setting.now)
        if (!isNews) yield* Effect.sleep(idlePause)
      }),
      onFailure: Effect.fnUntraced(function* (reason) {
        if (failures === 0) yield* Effect.logWarning(`The clock at ${url} is lost and runs on by itself: ${reason}`)
        failures += 1
        yield* Effect.sleep(retryDelay(failures))
      })
    }),
    Effect.forever
  )
  yield* Effect.forkScoped(follow)
  return clock
})

export const RemoteClock = {
  /** Replaces the clock of everything that the layer is provided to. Provide it last, so that nothing is left out. */
  layer: (options: RemoteClockOptions): Layer.Layer<never, RemoteClockUnavailable> =>
    Layer.effect(Clock.Clock, make(options)).pipe(Layer.provide(FetchHttpClient.layer))
} as const

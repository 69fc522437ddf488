/**
 * Where requests are counted: in this process, or in Redis when `REDIS_URL` is set, in one round trip a request.
 *
 * When Redis does not answer in time, this process counts alone and tries it again only after a pause, by one request:
 * a limit that is too generous for a while is better than a slow service. The same holds at the start: a Redis that is
 * not there is waited for once, and found when it comes.
 */
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import { Clock, Duration, Effect, Layer, Option, Redacted, Schedule } from "effect"
import { Redis } from "effect/persistence"
import { createClient } from "redis"
import { type Allowance, windowMs } from "#domain/effects/fixedWindows.ts"
import { type CountedRequest, RateLimits, tighter } from "#domain/request/RateLimits.ts"
import { RateLimitSettings } from "#domain/request/RateLimitSettings.ts"
import { withinRealTime } from "#layers/clock/withinRealTime.ts"

const timeout = Duration.millis(250)
/** How long the start of the process waits for Redis. */
const startTimeout = Duration.seconds(2)
/** How long Redis is left alone after it did not answer. */
const breakPause = Duration.seconds(5)
const breakNanos = Option.getOrThrow(Duration.toNanos(breakPause))

/** One tag keeps all counters of a request on one node of a cluster. */
const prefix = "{ballast:limits}:"

interface Counter {
  readonly key: string
  readonly limit: number
}

/**
 * Counts up to the first counter that is exceeded. Answers count and remaining milliseconds of each, one after the
 * other.
 */
const countAll = Redis.script(
  (counters: ReadonlyArray<Counter>) => [
    ...counters.map(({ key }) => key),
    windowMs,
    ...counters.map(({ limit }) => limit)
  ],
  {
    numberOfKeys: (counters) => counters.length,
    lua: `
      local window, counted = tonumber(ARGV[1]), {}
      for i, key in ipairs(KEYS) do
        local count = redis.call('INCR', key)
        local left = redis.call('PTTL', key)
        if left < 0 then
          redis.call('PEXPIRE', key, window)
          left = window
        end
        table.insert(counted, count)
        table.insert(counted, left)
        if count > tonumber(ARGV[i + 1]) then break end
      end
      return counted`
  }
).withReturnType<ReadonlyArray<number>>()

type Consume = RateLimits["Service"]["consume"]

/** Counts in Redis, or by `alone` while that does not answer. */
const countingIn = (alone: Consume) =>
  Effect.gen(function* () {
    const redis = yield* Redis.Redis
    const { client } = yield* NodeRedis.NodeRedis
    // Closing it would wait for answers that a Redis which hangs does not give.
    yield* Effect.addFinalizer(() => Effect.sync(() => (client.isOpen ? client.destroy() : undefined)))
    const settings = yield* RateLimitSettings
    const clock = yield* Clock.Clock
    /** Monotonic; 0 while Redis answers. */
    let brokenUntil = 0n

    const countersOf = ({ address, credential, tier }: CountedRequest): ReadonlyArray<Counter> => {
      const counter = (name: "global" | typeof tier, subject: string) => ({
        key: `${prefix}${name}:${subject}`,
        limit: settings[name]
      })
      const overall = [counter("global", address), counter("global", credential)]
      return tier === "global" ? overall : [...overall, counter(tier, credential), counter(tier, address)]
    }

    const allowanceOf = (counters: ReadonlyArray<Counter>, counted: ReadonlyArray<number>): Allowance => {
      const now = clock.currentTimeMillisUnsafe()
      const allowances = counters.slice(0, counted.length / 2).map(({ limit }, index): Allowance => {
        const count = counted[2 * index]!
        const resetAt = now + counted[2 * index + 1]!
        return { limit, remaining: Math.max(0, limit - count), resetAt, isExceeded: count > limit }
      })
      const refusing = allowances.find(({ isExceeded }) => isExceeded)
      // The last two are those of the tier, or both of all requests where the tier has no counters.
      return refusing ?? tighter(allowances.at(-2)!, allowances.at(-1)!)
    }

    const breakOff = (error: { readonly message: string }) =>
      Effect.suspend(() => {
        const isFirst = brokenUntil === 0n
        brokenUntil = clock.monotonicTimeNanosUnsafe() + breakNanos
        return isFirst
          ? Effect.logWarning(
              `Redis does not count requests (${error.message}); this process counts alone until it does`
            )
          : Effect.void
      })

    const mend = Effect.suspend(() => {
      const wasBroken = brokenUntil !== 0n
      brokenUntil = 0n
      return wasBroken ? Effect.logInfo("Redis counts requests again") : Effect.void
    })

    const count = (request: CountedRequest) => {
      const counters = countersOf(request)
      return redis
        .eval(countAll)(counters)
        .pipe(
          withinRealTime(timeout, () => new Error(`no answer in ${Duration.format(timeout)}`)),
          Effect.tap(mend),
          Effect.map((counted) => allowanceOf(counters, counted)),
          Effect.catch((error) => Effect.andThen(breakOff(error), alone(request)))
        )
    }

    return (request: CountedRequest) =>
      Effect.suspend(() => {
        if (brokenUntil === 0n) return count(request)
        const now = clock.monotonicTimeNanosUnsafe()
        if (now < brokenUntil) return alone(request)
        // This request tries; those that come meanwhile are counted here.
        brokenUntil = now + breakNanos
        return count(request)
      })
  })

/**
 * Succeeds when Redis answers. The connection of the counters would wait for its first answer without end, and be
 * waited for when the process ends.
 */
const answers = (url: string) =>
  Effect.acquireUseRelease(
    Effect.sync(() => createClient({ url, socket: { reconnectStrategy: false } }).on("error", () => {})),
    (client) => Effect.tryPromise({ try: () => client.connect(), catch: (cause) => cause as Error }),
    (client) => Effect.sync(() => (client.isOpen ? client.destroy() : undefined))
  ).pipe(withinRealTime(startTimeout, () => new Error(`no answer in ${Duration.format(startTimeout)}`)))

/** Commands that wait for a Redis that does not answer; beyond it they fail immediately. */
const commandsQueueMaxLength = 1_000

const inRedis = (url: string) =>
  Layer.effect(
    RateLimits,
    Effect.gen(function* () {
      const alone = yield* RateLimits
      let consume = alone.consume
      const connect = Effect.gen(function* () {
        yield* answers(url)
        const connection = yield* Layer.build(
          NodeRedis.layer({ url, commandsQueueMaxLength, disableOfflineQueue: true })
        )
        consume = yield* Effect.provide(countingIn(alone.consume), connection)
      })
      const warnOnce = (error: { readonly message: string }) =>
        Effect.logWarning(`Redis does not count requests (${error.message}); this process counts alone until it does`)
      yield* Effect.catch(connect, (error) =>
        Effect.andThen(
          warnOnce(error),
          Effect.forkScoped(Effect.retry(Effect.delay(connect, breakPause), Schedule.forever))
        )
      )
      return RateLimits.of({ arrive: alone.arrive, consume: (request) => consume(request) })
    })
  )

export const requestLimits = (redisUrl: Redacted.Redacted | null) =>
  redisUrl === null
    ? RateLimits.layerMemory
    : inRedis(Redacted.value(redisUrl)).pipe(Layer.provide(RateLimits.layerMemory))

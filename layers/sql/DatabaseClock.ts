/**
 * Makes a program follow the database's time instead of its machine's, so that processes of one database stamp and
 * compare by one clock: a due time that one of them writes is due for all of them at the same moment.
 *
 * The database is asked for its time before anything else is built, and every few seconds from then on. What an answer
 * may be wrong by is half of what it took; a difference within that is no news.
 */
import { Clock, Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { keepGoingEvery } from "#domain/effects/keepGoing.ts"
import { MachineClock } from "#domain/health/MachineClock.ts"
import { OffsetClock } from "#layers/clock/OffsetClock.ts"
import { DatabaseInfo } from "#layers/sql/DatabaseInfo.ts"

const betweenSamples = Duration.seconds(5)
const samplesAtStart = 3
/** An answer that took longer says too little. */
const slowestMillis = 1_000
/** A difference that is no correction, beside what the answer took. */
const sameMillis = 1
/** A machine's clock that differs by more is worth a line in the log. */
const wrongMillis = 2_000

interface Sample {
  /** Time of the database, at the middle of the question. */
  readonly now: number
  /** What a clock of this machine showed then. */
  readonly shown: number
  readonly tookMillis: number
}

/** The time of the database, beside that of `clock`. */
const sample = Effect.fnUntraced(function* (clock: Clock.Clock) {
  const sql = yield* SqlClient.SqlClient
  const before = clock.currentTimeMillisUnsafe()
  const asked = clock.monotonicTimeNanosUnsafe()
  const [row] = yield* sql<{ readonly now: number }>`
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`
  const tookMillis = Number(clock.monotonicTimeNanosUnsafe() - asked) / 1e6
  return { now: row!.now, shown: before + tookMillis / 2, tookMillis } satisfies Sample
}, Effect.withTracerEnabled(false))

const seconds = (millis: number) => `${Math.round(Math.abs(millis) / 1000)} s ${millis > 0 ? "ahead of" : "behind"}`

const make = Effect.gen(function* () {
  const local = yield* Clock.Clock
  const samples = yield* Effect.all(Array.from({ length: samplesAtStart }, () => sample(local)))
  const first = samples.reduce((best, one) => (one.tookMillis < best.tookMillis ? one : best))
  let aheadMillis = first.shown - first.now
  const clock = new OffsetClock(local, local.currentTimeMillisUnsafe() - aheadMillis)

  const report = (ahead: number) =>
    Effect.logWarning(
      `The clock of this machine is ${seconds(ahead)} the database's: set it right. Times are the database's meanwhile`
    )
  if (Math.abs(aheadMillis) > wrongMillis) yield* report(aheadMillis)

  const follow = Effect.gen(function* () {
    const { now, shown, tookMillis } = yield* sample(local)
    if (tookMillis > slowestMillis) return
    const wasWrong = Math.abs(aheadMillis) > wrongMillis
    aheadMillis = shown - now
    const isNow = local.currentTimeMillisUnsafe() - aheadMillis
    if (Math.abs(isNow - clock.currentTimeMillisUnsafe()) > tookMillis / 2 + sameMillis) clock.set(isNow)
    const isWrong = Math.abs(aheadMillis) > wrongMillis
    if (isWrong && !wasWrong) yield* report(aheadMillis)
    if (wasWrong && !isWrong) yield* Effect.logInfo("The clock of this machine is right again")
  })
  yield* keepGoingEvery(follow, {
    complaint: "The database was not asked for its time; time goes on at this machine's pace",
    level: "Debug",
    interval: betweenSamples
  })
  return Context.make(Clock.Clock, clock as Clock.Clock).pipe(
    Context.add(MachineClock, { aheadMillis: Effect.sync(() => aheadMillis) })
  )
})

/**
 * Replaces the clock of everything that the layer is provided to. The embedded database has the clock of this machine,
 * and nobody else's.
 */
const layer = Layer.unwrap(
  Effect.map(DatabaseInfo, ({ isEmbedded }) => (isEmbedded ? Layer.empty : Layer.effectContext(make)))
)

export const DatabaseClock = { layer } as const

/** Brings the events of the deployment into this worker's hub, and announces what its clients follow. */
import { Clock, Context, Deferred, Duration, Effect, Layer, Schedule, Stream } from "effect"
import { keepGoing, keepGoingEvery } from "#domain/effects/keepGoing.ts"
import { Backplane } from "#domain/stream/Backplane.ts"
import type { MarketEvent } from "#domain/stream/MarketData.ts"
import { Demand } from "#stream/Demand.ts"
import { Feeds } from "#stream/Feeds.ts"
import { Hub } from "#stream/Hub.ts"
import { Workers } from "#stream/Workers.ts"

/** How often changes of what clients follow are checked for. */
const pollInterval = Duration.millis(200)
/** Announced every so many polls even without news. */
const pollsPerAnnouncement = 5
/** How long a client that has seen more than this worker is waited for. */
const catchUpLimit = "3 seconds"
/** A batch that took less than this to write, in milliseconds, is followed by the next at once. */
const shortWrite = 2

export class Intake extends Context.Service<
  Intake,
  {
    /** Whether the hub has what the deployment keeps, and the deployment can be reached. */
    readonly isReady: Effect.Effect<boolean>
    /** Waits, for a while, until the hub has everything that was published before now. */
    readonly catchUp: Effect.Effect<void>
  }
>()("ballast/stream/Intake") {
  static readonly layer = Layer.effect(
    Intake,
    Effect.gen(function* () {
      const backplane = yield* Backplane
      const hub = yield* Hub
      const demand = yield* Demand
      const feeds = yield* Feeds
      const workers = yield* Workers
      const begun = yield* Deferred.make<void>()

      const reach = (position: number) =>
        Effect.suspend(() => Effect.succeed(hub.position() >= position)).pipe(
          Effect.repeat({ until: (isThere) => isThere, schedule: Schedule.spaced("10 millis") })
        )

      /**
       * Writes a batch, then leaves the event loop to others for as long as that took. A loop accepts one connection a
       * turn: without the pause, clients that come back while many are written to would wait behind a batch each. What
       * comes meanwhile goes out together.
       */
      const takeIn = Effect.fnUntraced(function* (batch: ReadonlyArray<MarketEvent>) {
        const clock = yield* Clock.Clock
        const before = clock.monotonicTimeNanosUnsafe()
        hub.ingest(batch)
        const took = Number(clock.monotonicTimeNanosUnsafe() - before) / 1e6
        if (took >= shortWrite) yield* Effect.sleep(Duration.millis(took))
      })

      const intake = Effect.gen(function* () {
        const { completeAfter, events } = yield* backplane.feed
        hub.beginAfter(completeAfter)
        const end = yield* backplane.position
        yield* Effect.forkScoped(Effect.andThen(reach(end), Deferred.succeed(begun, undefined)))
        yield* Stream.runForEach(events, takeIn)
      }).pipe(Effect.scoped, Effect.as(Duration.zero))
      yield* keepGoing(intake, {
        complaint: "The feed of events broke off",
        level: "Warn",
        afterFault: Duration.millis(500)
      })

      let checks = 0
      let before = ""
      const announce = Effect.suspend(() => {
        const wanted = demand.wanted()
        const news = [...wanted].sort().join()
        checks += 1
        if (news === before && checks % pollsPerAnnouncement !== 0) return Effect.void
        before = news
        return workers.announce({
          wanted,
          topics: hub.topics().map(({ clients, topic }) => ({ topic, clients })),
          providers: feeds.holdsLease() ? feeds.report() : null
        })
      })
      yield* keepGoingEvery(announce, {
        complaint: "What clients follow could not be announced",
        interval: pollInterval
      })

      return Intake.of({
        isReady: Effect.flatMap(Deferred.isDone(begun), (isDone) =>
          isDone ? backplane.isReachable : Effect.succeed(false)
        ),
        catchUp: backplane.position.pipe(
          Effect.flatMap(reach),
          Effect.timeout(catchUpLimit),
          Effect.catch(() => Effect.void)
        )
      })
    })
  )
}

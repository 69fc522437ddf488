/** How events reach the hub, and who else gets the event loop meanwhile. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Layer, Queue, Stream } from "effect"
import { Backplane } from "#domain/stream/Backplane.ts"
import type { MarketEvent } from "#domain/stream/MarketData.ts"
import { Demand } from "#stream/Demand.ts"
import { Feeds } from "#stream/Feeds.ts"
import { Hub, type HubState } from "#stream/Hub.ts"
import { Intake } from "#stream/Intake.ts"
import { Workers } from "#stream/Workers.ts"
import { eventOf, tick } from "#test/stream/support/events.ts"

/** An intake whose batches take `millis` to write: what happened, in order. */
const running = Effect.fnUntraced(function* (millis: number) {
  const machine = yield* Clock.Clock
  const happened: Array<string> = []
  let reading = 0n
  const clock: Clock.Clock = Object.create(machine, {
    monotonicTimeNanosUnsafe: { value: () => reading },
    sleep: {
      value: (duration: Duration.Duration) => {
        // The intake also polls every 200 ms, which is not what is tested here.
        if (Duration.toMillis(duration) !== millis) return machine.sleep(duration)
        happened.push(`${millis} ms for others`)
        return Effect.void
      }
    }
  })
  const batches = yield* Queue.unbounded<ReadonlyArray<MarketEvent>>()
  const hub: Pick<HubState, "beginAfter" | "ingest" | "position" | "topics"> = {
    beginAfter: () => {},
    position: () => 0,
    topics: () => [],
    ingest: (events) => {
      happened.push(`batch of ${events.length}`)
      reading += BigInt(millis * 1e6)
    }
  }
  yield* Layer.build(
    Intake.layer.pipe(
      Layer.provide([
        Layer.mock(Backplane, {
          workerId: "worker",
          isReachable: Effect.succeed(true),
          position: Effect.succeed(0),
          feed: Effect.succeed({ completeAfter: 0, events: Stream.fromQueue(batches) })
        }),
        Layer.succeed(Hub, hub as HubState),
        Layer.mock(Demand, { expect: () => {}, wanted: () => [] }),
        Layer.mock(Feeds, { configured: [], holdsLease: () => false, report: () => [] }),
        Layer.mock(Workers, {
          announce: () => Effect.void,
          wanted: () => new Set(),
          clients: () => new Map(),
          providers: () => []
        })
      ])
    )
  ).pipe(Effect.provideService(Clock.Clock, clock))
  return {
    happened,
    publish: (count: number) =>
      Queue.offerUnsafe(
        batches,
        Array.from({ length: count }, (_, index) => eventOf(tick("crypto", "ETH", index + 1), index + 1, index))
      )
  }
})

const until = (isThere: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (isThere() ? Effect.void : Effect.andThen(Effect.sleep("5 millis"), until(isThere))))

describe("the intake", () => {
  it.live("leaves the event loop to others for as long as a batch took to write", () =>
    Effect.gen(function* () {
      const { happened, publish } = yield* running(30)
      publish(1)
      publish(2)
      yield* until(() => happened.length >= 4)
      assert.deepStrictEqual(happened, ["batch of 1", "30 ms for others", "batch of 2", "30 ms for others"])
    }).pipe(Effect.scoped)
  )

  it.live("takes the next batch at once after a short one", () =>
    Effect.gen(function* () {
      const { happened, publish } = yield* running(1)
      publish(1)
      publish(2)
      yield* until(() => happened.length >= 2)
      assert.deepStrictEqual(happened, ["batch of 1", "batch of 2"])
    }).pipe(Effect.scoped)
  )
})

import { assert, it } from "@effect/vitest"
import { type Clock, Duration, Effect } from "effect"
import { OffsetClock } from "#layers/clock/OffsetClock.ts"

/** A machine whose monotonic time a test moves, and whose wall clock nobody may ask. */
const machine = () => {
  const passed = { millis: 0, slept: [] as Array<number> }
  const nanos = () => BigInt(passed.millis) * 1_000_000n
  const unasked = () => assert.fail("the wall clock of the machine was asked")
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: unasked,
    currentTimeMillis: Effect.sync(unasked),
    currentTimeNanosUnsafe: unasked,
    currentTimeNanos: Effect.sync(unasked),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration) => Effect.sync(() => void passed.slept.push(Duration.toMillis(duration)))
  }
  return { passed, clock }
}

const start = Date.UTC(2026, 0, 1)

it.effect("time is what was set and what the machine counted since, whatever its own clock shows", () =>
  Effect.gen(function* () {
    const { clock: local, passed } = machine()
    const clock = new OffsetClock(local, start)
    assert.strictEqual(yield* clock.currentTimeMillis, start)
    passed.millis += 1_500
    assert.strictEqual(yield* clock.currentTimeMillis, start + 1_500)
    clock.set(start + 172_800_000)
    assert.strictEqual(yield* clock.currentTimeMillis, start + 172_800_000)
    assert.strictEqual(yield* clock.currentTimeNanos, BigInt(start + 172_800_000) * 1_000_000n)
  })
)

it.effect("a small correction backwards is made by standing still, a large one at once", () =>
  Effect.gen(function* () {
    const { clock: local, passed } = machine()
    const clock = new OffsetClock(local, start)
    assert.strictEqual(yield* clock.currentTimeMillis, start)
    clock.set(start - 400)
    assert.strictEqual(yield* clock.currentTimeMillis, start)
    passed.millis += 300
    assert.strictEqual(yield* clock.currentTimeMillis, start)
    passed.millis += 200
    assert.strictEqual(yield* clock.currentTimeMillis, start + 100)
    clock.set(start - 172_800_000)
    assert.strictEqual(yield* clock.currentTimeMillis, start - 172_800_000)
  })
)

it.effect("a correction neither ends a wait nor lengthens it: the machine counts them", () =>
  Effect.gen(function* () {
    const { clock: local, passed } = machine()
    const clock = new OffsetClock(local, start)
    clock.set(start - 172_800_000)
    yield* clock.sleep(Duration.seconds(5))
    assert.deepStrictEqual(passed.slept, [5_000])
  })
)

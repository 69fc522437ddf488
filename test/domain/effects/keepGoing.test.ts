import { assert, describe, it } from "@effect/vitest"
import { Cause, Duration, Effect, Exit, Latch, Logger, References, Scope } from "effect"
import { TestClock } from "effect/testing"
import { keepGoing, keepGoingEvery } from "#domain/effects/keepGoing.ts"
import { TransientFault } from "#domain/errors/TransientFault.ts"
import { pollWhileOpen } from "#domain/effects/pollWhileOpen.ts"

const complaint = "The round failed"
const afterFault = Duration.seconds(7)

/** Rounds that end in this order, the last one again and again; `begun` has one for each that began. */
const roundsOf = <A, E>(...ends: ReadonlyArray<Effect.Effect<A, E>>) => {
  const begun: Array<Effect.Effect<A, E>> = []
  const round = Effect.suspend(() => {
    const end = ends[Math.min(begun.length, ends.length - 1)]!
    begun.push(end)
    return end
  })
  return { begun, round }
}

/** Lines of the log; a cause is given by its own text. */
const logTo = (lines: Array<ReadonlyArray<unknown>>) =>
  Logger.layer([
    Logger.make<unknown, void>(({ cause, logLevel, message }) => {
      const [text] = message as ReadonlyArray<unknown>
      lines.push([logLevel, text, ...cause.reasons.map((reason) => reason._tag), Cause.prettyErrors(cause)[0]?.message])
    })
  ])

describe("rounds", () => {
  it.effect("begin at once, and rest for as long as each says", () =>
    Effect.gen(function* () {
      const { begun, round } = roundsOf(Effect.succeed(Duration.seconds(1)), Effect.succeed(Duration.seconds(3)))
      yield* keepGoing(round, { complaint, afterFault })
      assert.lengthOf(begun, 0)
      yield* TestClock.adjust(0)
      assert.lengthOf(begun, 1)
      yield* TestClock.adjust("999 millis")
      assert.lengthOf(begun, 1)
      yield* TestClock.adjust("1 millis")
      assert.lengthOf(begun, 2)
      yield* TestClock.adjust("2999 millis")
      assert.lengthOf(begun, 2)
      yield* TestClock.adjust("1 millis")
      assert.lengthOf(begun, 3)
    })
  )

  const faults: ReadonlyArray<[string, Effect.Effect<Duration.Duration, Error>, ReadonlyArray<unknown>]> = [
    ["an error", Effect.fail(new Error("refused")), ["Fail", "refused"]],
    ["a defect", Effect.die(new Error("broken")), ["Die", "broken"]],
    ["an interruption from within", Effect.interrupt, ["Interrupt", "All fibers interrupted without error"]]
  ]
  for (const [name, fault, logged] of faults)
    it.effect(`go on after ${name}, which is logged with its cause, and after the pause`, () => {
      const lines: Array<ReadonlyArray<unknown>> = []
      return Effect.gen(function* () {
        const { begun, round } = roundsOf(fault, fault, Effect.succeed(Duration.seconds(1)))
        yield* keepGoing(round, { complaint, afterFault })
        yield* TestClock.adjust("6999 millis")
        assert.lengthOf(begun, 1)
        assert.deepStrictEqual(lines, [["Error", complaint, ...logged]])
        yield* TestClock.adjust("1 millis")
        assert.lengthOf(begun, 2)
        yield* TestClock.adjust("8 seconds")
        assert.lengthOf(begun, 4)
        assert.deepStrictEqual(lines, [
          ["Error", complaint, ...logged],
          ["Error", complaint, ...logged]
        ])
      }).pipe(Effect.provide(logTo(lines)))
    })

  it.effect("say of storage that is away its own reason, as a warning without a stack", () => {
    const lines: Array<ReadonlyArray<unknown>> = []
    const away = new Error("Failed to connect", { cause: new Error("too many connections for role") })
    return Effect.gen(function* () {
      const { round } = roundsOf(Effect.die(away), Effect.fail(away), Effect.fail(new Error("ours")))
      yield* keepGoing(round, { complaint, afterFault })
      yield* keepGoing(Effect.die(away), { complaint, level: "Debug", afterFault: Duration.days(1) })
      yield* TestClock.adjust("20 seconds")
    }).pipe(
      Effect.provideService(TransientFault, (fault) => fault === away),
      Effect.provide(logTo(lines)),
      Effect.provideService(References.MinimumLogLevel, "Debug"),
      Effect.andThen(
        Effect.sync(() => {
          const said = `${complaint}: Failed to connect: too many connections for role`
          assert.deepStrictEqual(lines, [
            ["Warn", said, undefined],
            ["Debug", said, undefined],
            ["Warn", said, undefined],
            ["Error", complaint, "Fail", "ours"]
          ])
        })
      )
    )
  })

  it.effect("end with their scope, in the middle of a round or of a rest, and nothing is logged of it", () => {
    const lines: Array<ReadonlyArray<unknown>> = []
    return Effect.gen(function* () {
      for (const end of [Effect.never, Effect.succeed(Duration.seconds(1)), Effect.die(new Error("broken"))]) {
        const scope = yield* Scope.make()
        const { begun, round } = roundsOf<Duration.Duration, never>(end)
        let interrupted = 0
        yield* Effect.onInterrupt(round, () => Effect.sync(() => (interrupted += 1))).pipe(
          (one) => keepGoing(one, { complaint, afterFault }),
          Scope.provide(scope)
        )
        yield* TestClock.adjust("500 millis")
        yield* Scope.close(scope, Exit.void)
        yield* TestClock.adjust("1 minute")
        assert.lengthOf(begun, 1)
        assert.strictEqual(interrupted, end === Effect.never ? 1 : 0)
      }
      assert.deepStrictEqual(lines, [["Error", complaint, "Die", "broken"]])
    }).pipe(Effect.provide(logTo(lines)))
  })

  it.effect("of one interval rest for it after a fault too, which is logged at the level that was asked for", () => {
    const lines: Array<ReadonlyArray<unknown>> = []
    return Effect.gen(function* () {
      const { begun, round } = roundsOf<string, Error>(Effect.fail(new Error("refused")), Effect.succeed("done"))
      yield* keepGoingEvery(round, { complaint, level: "Warn", interval: Duration.seconds(2) })
      yield* TestClock.adjust("1999 millis")
      assert.lengthOf(begun, 1)
      yield* TestClock.adjust("1 millis")
      assert.lengthOf(begun, 2)
      yield* TestClock.adjust("2 seconds")
      assert.lengthOf(begun, 3)
      assert.deepStrictEqual(lines, [["Warn", complaint, "Fail", "refused"]])
    }).pipe(Effect.provide(logTo(lines)))
  })
})

describe("polls", () => {
  it.effect("rest while nobody waits, come after the interval, and two seconds later after a fault", () => {
    const lines: Array<ReadonlyArray<unknown>> = []
    return Effect.gen(function* () {
      const latch = yield* Latch.make(false)
      const { begun, round } = roundsOf<void, never>(Effect.die(new Error("broken")), Effect.void)
      yield* pollWhileOpen(latch, round, { complaint, interval: Duration.seconds(1) })
      yield* TestClock.adjust("1 minute")
      assert.lengthOf(begun, 0)
      yield* latch.open
      yield* TestClock.adjust("1 seconds")
      assert.lengthOf(begun, 1)
      assert.deepStrictEqual(lines, [["Warn", complaint, "Die", "broken"]])
      yield* TestClock.adjust("2999 millis")
      assert.lengthOf(begun, 1)
      yield* TestClock.adjust("1 millis")
      assert.lengthOf(begun, 2)
      yield* latch.close
      // The poll that had begun to rest is the last one.
      yield* TestClock.adjust("1 minute")
      assert.lengthOf(begun, 3)
    }).pipe(Effect.provide(logTo(lines)))
  })
})

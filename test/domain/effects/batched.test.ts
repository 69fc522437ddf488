import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { batched, shared } from "#domain/effects/batched.ts"

describe("batched", () => {
  it.effect("puts what is asked while a statement runs into the next one, never two of one key", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const groups: Array<ReadonlyArray<string>> = []
      const ask = yield* batched(
        (item: string) => item.slice(0, 1),
        (items: ReadonlyArray<string>) =>
          Effect.as(
            Effect.andThen(
              Effect.sync(() => groups.push(items)),
              Deferred.await(gate)
            ),
            (item: string) => item.toUpperCase()
          )
      )
      const first = yield* Effect.forkChild(ask("a1"), { startImmediately: true })
      while (groups.length === 0) yield* Effect.yieldNow
      const rest = yield* Effect.forEach(["b1", "c1", "b2"], (item) =>
        Effect.forkChild(ask(item), { startImmediately: true })
      )
      yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual(yield* Effect.forEach([first, ...rest], Fiber.join), ["A1", "B1", "C1", "B2"])
      assert.deepStrictEqual(groups, [["a1"], ["b1", "c1"], ["b2"]])
    })
  )

  it.effect("collects for a window what is not asked in the same moment, and no longer", () =>
    Effect.gen(function* () {
      const groups: Array<ReadonlyArray<string>> = []
      const ask = yield* batched(
        (item: string) => item,
        (items: ReadonlyArray<string>) =>
          Effect.as(
            Effect.sync(() => groups.push(items)),
            (item: string) => item.toUpperCase()
          ),
        { collectFor: Duration.millis(30) }
      )
      const askedAfter = Effect.fnUntraced(function* (millis: number, item: string) {
        yield* TestClock.adjust(Duration.millis(millis))
        return yield* Effect.forkChild(ask(item), { startImmediately: true })
      })
      const fibers = [yield* askedAfter(0, "a"), yield* askedAfter(10, "b"), yield* askedAfter(19, "c")]
      assert.deepStrictEqual(groups, [])
      fibers.push(yield* askedAfter(1, "d"))
      yield* TestClock.adjust(Duration.millis(30))
      assert.deepStrictEqual(yield* Effect.forEach(fibers, Fiber.join), ["A", "B", "C", "D"])
      assert.deepStrictEqual(groups, [["a", "b", "c"], ["d"]])
    })
  )

  it.effect("answers what is recorded early at once, and tries only the others alone when the rest fails", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const groups: Array<ReadonlyArray<string>> = []
      const ask = yield* batched(
        (item: string) => item,
        (items: ReadonlyArray<string>, record: (item: string, answer: string) => void) =>
          Effect.gen(function* () {
            groups.push(items)
            if (items.length > 1) {
              record("a", "A early")
              yield* Deferred.await(gate)
              return yield* Effect.fail("the rest")
            }
            return (item: string) => `${item} alone`
          })
      )
      const [a, b, c] = yield* Effect.forEach(["a", "b", "c"], (item) => Effect.forkChild(ask(item)))
      assert.strictEqual(yield* Fiber.join(a!), "A early")
      yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual(yield* Effect.forEach([b!, c!], Fiber.join), ["b alone", "c alone"])
      assert.deepStrictEqual(groups, [["a", "b", "c"], ["b"], ["c"]])
    })
  )

  it.effect("lets a bad item fail for itself only", () =>
    Effect.gen(function* () {
      const ask = yield* batched(
        (item: number) => `${item}`,
        (items: ReadonlyArray<number>) =>
          items.includes(2) ? Effect.fail("bad") : Effect.succeed((item: number) => item * 10)
      )
      const exits = yield* Effect.forEach([1, 2, 3], (item) => Effect.exit(ask(item)), { concurrency: 3 })
      assert.deepStrictEqual(exits, [Exit.succeed(10), Exit.fail("bad"), Exit.succeed(30)])
    })
  )
})

describe("shared", () => {
  it.effect("reads once for all who ask before the read begins, and again for who asks after", () =>
    Effect.gen(function* () {
      const gates = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const reads: Array<string> = []
      const ask = yield* shared((key: string) =>
        Effect.gen(function* () {
          const number = reads.push(key) - 1
          yield* Deferred.await(gates[number]!)
          return `${key}${number}`
        })
      )
      const first = yield* Effect.forkChild(ask("k"), { startImmediately: true })
      while (reads.length === 0) yield* Effect.yieldNow
      const late = yield* Effect.replicateEffect(Effect.forkChild(ask("k"), { startImmediately: true }), 3)
      yield* Deferred.succeed(gates[0]!, undefined)
      yield* Deferred.succeed(gates[1]!, undefined)
      assert.strictEqual(yield* Fiber.join(first), "k0")
      assert.deepStrictEqual(yield* Effect.forEach(late, Fiber.join), ["k1", "k1", "k1"])
      assert.strictEqual(reads.length, 2)
    })
  )
})

/** Claims whose claimant is interrupted at every moment. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { underClaim } from "#domain/effects/underClaim.ts"

type State = { readonly _tag: "Claimed" } | { readonly _tag: "InProgress" }

/** A stored claim that waits where a test interrupts it. */
const world = Effect.gen(function* () {
  const [reached, goOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const store = { isClaimed: false, hasOutcome: false }
  const stop = Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(goOn))
  const claim = (before: Effect.Effect<unknown>, after: Effect.Effect<unknown>): Effect.Effect<State> =>
    before.pipe(
      Effect.andThen(Effect.sync(() => void (store.isClaimed = true))),
      Effect.andThen(after),
      Effect.as<State>({ _tag: "Claimed" })
    )
  // As all stores have it: what has an outcome is not released.
  const release = Effect.sync(() => void (store.isClaimed &&= store.hasOutcome))
  const interrupted = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
      yield* Deferred.await(reached)
      const interrupting = yield* Effect.forkChild(Fiber.interrupt(fiber), { startImmediately: true })
      yield* Deferred.succeed(goOn, undefined)
      yield* Fiber.join(interrupting)
      return yield* Fiber.await(fiber)
    })
  return { claim, interrupted, release, stop, store }
})

describe("a claim", () => {
  it.effect("is released when its claimant is interrupted before, behind or under it", () =>
    Effect.gen(function* () {
      for (const moment of ["before", "behind", "under"] as const) {
        const { claim, interrupted, release, stop, store } = yield* world
        const at = (here: typeof moment) => (here === moment ? stop : Effect.void)
        const claimed = underClaim({ claim: claim(at("before"), at("behind")), release })
        const exit = yield* interrupted(claimed(() => Effect.as(at("under"), "done")))
        assert.isTrue(Exit.hasInterrupts(exit), moment)
        assert.isFalse(store.isClaimed, moment)
      }
    })
  )

  it.effect("is kept by work that is brought to its end", () =>
    Effect.gen(function* () {
      const { claim, interrupted, release, stop, store } = yield* world
      const claimed = underClaim({ claim: claim(Effect.void, Effect.void), release })
      const work = Effect.andThen(
        stop,
        Effect.sync(() => void (store.hasOutcome = true))
      )
      yield* interrupted(claimed(() => Effect.uninterruptible(work)))
      assert.isTrue(store.isClaimed)
    })
  )

  it.effect("of somebody else is not released", () =>
    Effect.gen(function* () {
      const { release, store } = yield* world
      store.isClaimed = true
      const claimed = underClaim<State>({ claim: Effect.succeed({ _tag: "InProgress" }), release })
      yield* Effect.exit(claimed(() => Effect.fail("in progress")))
      assert.isTrue(store.isClaimed)
    })
  )
})

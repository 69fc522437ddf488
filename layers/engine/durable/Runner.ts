/**
 * This process as one that works on runs, among others on the same database.
 *
 * A runner shows that it lives by a number that it raises. Whoever sees the same number at several looks in a row takes it
 * for dead and frees its runs. No clock is compared with another one, so clocks may differ; and a runner that was wrongly
 * taken for dead harms nothing, because each step of a run is stored once.
 */
import { Context, Duration, Effect, Layer, Ref, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import { DatabaseInfo } from "#layers/sql/DatabaseInfo.ts"
import { ExecutionStore } from "#layers/sql/ExecutionStore.ts"

const between = Duration.seconds(1)
const looksUntilDead = 5

/** Executions that are freed in one statement. */
const freedAtOnce = 1_000

export class Runner extends Context.Service<
  Runner,
  {
    /** Changes when others have taken this runner for dead: what it owned under the old name it owns no longer. */
    readonly id: Effect.Effect<string>
  }
>()("ballast/layers/engine/durable/Runner") {
  static readonly layer = Layer.effect(
    Runner,
    Effect.gen(function* () {
      const store = yield* ExecutionStore
      const random = yield* SecureRandom.SecureRandom
      const { isEmbedded } = yield* DatabaseInfo

      const join = Effect.tap(random.ulid, store.join)

      // The embedded database has one process, so whoever else is in the table is dead.
      if (isEmbedded) yield* Effect.flatMap(store.runners, (runners) => Effect.forEach(runners, store.bury))
      const id = yield* Ref.make(yield* join)
      // The next process need not find out that this one ended.
      yield* Effect.addFinalizer(() => Ref.get(id).pipe(Effect.flatMap(store.leave), Effect.ignore))

      const beat = Effect.gen(function* () {
        if (yield* store.beat(yield* Ref.get(id))) return
        yield* Ref.set(id, yield* join)
        yield* Effect.logWarning("Other processes took this one for dead; it goes on under a new name")
      })

      const unchanged = new Map<string, { readonly beat: bigint; readonly looks: number }>()

      const look = Effect.gen(function* () {
        const own = yield* Ref.get(id)
        const others = (yield* store.runners).filter(({ runnerId }) => runnerId !== own)
        const present = new Set(others.map(({ runnerId }) => runnerId))
        for (const runnerId of unchanged.keys()) if (!present.has(runnerId)) unchanged.delete(runnerId)
        for (const runner of others) {
          const before = unchanged.get(runner.runnerId)
          const looks = before?.beat === runner.beat ? before.looks + 1 : 0
          unchanged.set(runner.runnerId, { beat: runner.beat, looks })
          if (looks >= looksUntilDead && (yield* store.bury(runner)))
            yield* Effect.logWarning(`Runner ${runner.runnerId} is dead; its runs move to others`)
        }
        for (let freed = freedAtOnce; freed === freedAtOnce;) freed = yield* store.freeOrphans(freedAtOnce)
      })

      yield* look
      yield* beat.pipe(
        Effect.andThen(look),
        Effect.catchCause((cause) => Effect.logError("A runner could not show that it lives", cause)),
        Effect.repeat(Schedule.spaced(between)),
        Effect.forkScoped
      )

      return Runner.of({ id: Ref.get(id) })
    })
  ).pipe(Layer.provide(ExecutionStore.layer))
}

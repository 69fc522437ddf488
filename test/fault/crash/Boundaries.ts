/**
 * The boundaries of runs: the moments between which a process may die. Each one is reported as it is passed; a service
 * stops for ever at the one that it is doomed to, and what was on its way there is not done any more.
 */
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
import type { Message } from "#test/fault/crash/messages.ts"

/** Where a service stops: at the boundary of a name, or at the nth that it passes. */
export type Doom = { readonly at: string } | { readonly after: number }

export class Boundaries extends Context.Service<
  Boundaries,
  {
    /** Stops here or goes on. */
    readonly pass: (boundary: string) => Effect.Effect<void>
    /**
     * Decides where the service stops from now on; nowhere without an argument. Begins to number the executions anew.
     */
    readonly arm: (doom?: Doom) => void
    /**
     * The name of an execution: its kind and how many of the kind there were before. Ids are drawn, so they do not
     * name.
     */
    readonly nameOf: (workflow: string, executionId: string) => string
    /** Passes a boundary as soon as the effect says that it is reached, without delaying it. */
    readonly passAfter: (boundary: string, effect: Effect.Effect<boolean>) => Effect.Effect<void>
    /** Once every boundary of `passAfter` is passed. */
    readonly quiet: Effect.Effect<void>
    /** Once the service has stopped. */
    readonly stopped: Effect.Effect<void>
  }
>()("ballast/test/fault/crash/Boundaries") {
  static readonly layer = (report: (message: Message) => void) =>
    Layer.sync(Boundaries, () => {
      let armed: Doom | undefined
      let passed = 0
      const stopped = Deferred.makeUnsafe<void>()
      const executions = new Map<string, string>()
      const counts = new Map<string, number>()

      const count = (name: string) => {
        const times = (counts.get(name) ?? 0) + 1
        counts.set(name, times)
        return times
      }

      const awaited = new Set<Fiber.Fiber<void>>()

      const pass = (name: string) =>
        Effect.suspend(() => {
          passed += 1
          const times = count(name)
          const boundary = times === 1 ? name : `${name} (${times})`
          report({ _tag: "Passed", boundary })
          const isHere = armed !== undefined && ("at" in armed ? armed.at === boundary : armed.after === passed)
          if (!isHere) return Effect.void
          report({ _tag: "Stopped" })
          Deferred.doneUnsafe(stopped, Effect.void)
          return Effect.uninterruptible(Effect.never)
        })

      return Boundaries.of({
        pass,
        passAfter: (boundary, effect) =>
          Effect.flatMap(effect, (isReached) => (isReached ? pass(boundary) : Effect.void)).pipe(
            Effect.forkDetach,
            Effect.map((fiber) => void awaited.add(fiber))
          ),
        quiet: Effect.suspend(() => Fiber.awaitAll([...awaited])).pipe(
          Effect.andThen(Effect.sync(() => awaited.clear()))
        ),
        arm: (doom) => {
          armed = doom
          passed = 0
          executions.clear()
          counts.clear()
        },
        nameOf: (workflow, executionId) => {
          const known = executions.get(executionId)
          if (known !== undefined) return known
          const name = `${workflow}${count(workflow)}`
          executions.set(executionId, name)
          return name
        },
        stopped: Deferred.await(stopped)
      })
    })
}

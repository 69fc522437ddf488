/**
 * The boundaries of runs: the moments between which a process may die. Each one is told on standard output as it is
 * passed, and at the one that is armed the process kills itself, as `kill -9` would: nothing is closed, nothing ends.
 */
import { Context, Effect, Layer } from "effect"
import { tell } from "#test/fault/crash/messages.ts"

/** Where the process dies: at the boundary of a name, or at the nth that it passes. */
export type Doom = { readonly at: string } | { readonly after: number }

export class Boundaries extends Context.Service<
  Boundaries,
  {
    /** Dies here or goes on. */
    readonly pass: (boundary: string) => Effect.Effect<void>
    /** Decides where the process dies from now on; nowhere without an argument. Begins to number the executions anew. */
    readonly arm: (doom?: Doom) => void
    /** The name of an execution: its kind and how many of the kind there were before. Ids are drawn, so they do not name. */
    readonly nameOf: (workflow: string, executionId: string) => string
  }
>()("ballast/test/fault/crash/Boundaries") {
  static readonly layer = Layer.sync(Boundaries, () => {
    let armed: Doom | undefined
    let passed = 0
    const executions = new Map<string, string>()
    const counts = new Map<string, number>()
    const times = new Map<string, number>()

    return Boundaries.of({
      arm: (doom) => {
        armed = doom
        passed = 0
        executions.clear()
        counts.clear()
        times.clear()
      },
      nameOf: (workflow, executionId) => {
        const known = executions.get(executionId)
        if (known !== undefined) return known
        const count = (counts.get(workflow) ?? 0) + 1
        counts.set(workflow, count)
        const name = `${workflow}${count}`
        executions.set(executionId, name)
        return name
      },
      pass: (name) =>
        Effect.sync(() => {
          passed += 1
          const count = (times.get(name) ?? 0) + 1
          times.set(name, count)
          const boundary = count === 1 ? name : `${name} (${count})`
          tell({ _tag: "Passed", boundary })
          if (armed !== undefined && ("at" in armed ? armed.at === boundary : armed.after === passed)) die()
        })
    })
  })
}

/** Returns never: the signal ends the process before the next statement could do anything. */
const die = () => {
  process.kill(process.pid, "SIGKILL")
  for (;;);
}

/** The runs that this process works on right now, and how many more it may take. */
import { Context, Effect, Layer } from "effect"
import { Settings } from "#domain/Settings.ts"
import type { LocalRun } from "#layers/engine/durable/LocalRun.ts"

export class RunsInFlight extends Context.Service<
  RunsInFlight,
  {
    /** By execution id. */
    readonly runs: Map<string, LocalRun>
    readonly free: () => number
  }
>()("ballast/layers/engine/durable/RunsInFlight") {
  static readonly layer = Layer.effect(
    RunsInFlight,
    Effect.gen(function* () {
      const { maxRunsInFlight } = yield* Settings
      const runs = new Map<string, LocalRun>()
      return RunsInFlight.of({ runs, free: () => Math.max(0, maxRunsInFlight - runs.size) })
    })
  )
}

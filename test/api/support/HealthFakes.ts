/** Whether the process can do its work, and has reached its database lately, as a test has it. */
import { Effect, Layer } from "effect"
import { Liveness } from "#domain/health/Liveness.ts"
import { Readiness } from "#domain/health/Readiness.ts"
import { TestEnvironment } from "#test/api/support/TestEnvironment.ts"

const ReadinessFake = Layer.effect(
  Readiness,
  Effect.map(TestEnvironment, (surroundings) =>
    Readiness.of({
      check: Effect.sync(() => ({
        ready: surroundings.isReady,
        checks: { database: { ok: surroundings.isReady, detail: surroundings.isReady ? "answers" : "does not answer" } }
      }))
    })
  )
)

const LivenessFake = Layer.effect(
  Liveness,
  Effect.map(TestEnvironment, (surroundings) =>
    Liveness.of({
      check: Effect.sync(() => ({
        live: surroundings.isLive,
        checks: {
          database: { ok: surroundings.isLive, detail: `answered ${surroundings.isLive ? 1 : 181} s ago` },
          loop: { ok: true, detail: "had its turn 0 s ago" }
        }
      }))
    })
  )
)

export const HealthFakes = Layer.merge(ReadinessFake, LivenessFake)

/** Whether the process can do its work, and has reached its database lately, as a test has it. */
import { Effect, Layer } from "effect"
import { Liveness } from "#domain/health/Liveness.ts"
import { Readiness } from "#domain/health/Readiness.ts"
import { TestEnvironment } from "#test/api/support/TestEnvironment.ts"

const ReadinessFake = Layer.effect(
  Readiness,
  Effect.map(TestEnvironment, (environment) =>
    Readiness.of({
      check: Effect.sync(() => ({
        ready: environment.isReady,
        checks: { database: { ok: environment.isReady, detail: environment.isReady ? "answers" : "does not answer" } }
      }))
    })
  )
)

const LivenessFake = Layer.effect(
  Liveness,
  Effect.map(TestEnvironment, (environment) =>
    Liveness.of({
      check: Effect.sync(() => ({
        live: environment.isLive,
        checks: {
          database: { ok: environment.isLive, detail: `answered ${environment.isLive ? 1 : 181} s ago` },
          loop: { ok: true, detail: "had its turn 0 s ago" }
        }
      }))
    })
  )
)

export const HealthFakes = Layer.merge(ReadinessFake, LivenessFake)

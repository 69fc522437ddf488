/** Port: whether this process can still do anything, or its supervisor has to start it again. */
import { Context, type Effect } from "effect"
import type { ReadinessCheck } from "#domain/health/Readiness.ts"

/**
 * Whether this process can still do anything.
 *
 * **When to use**
 *
 * Use to answer `GET /health/live`. Whether requests should be sent here is `Readiness`.
 */
export class Liveness extends Context.Service<
  Liveness,
  {
    /**
     * How long ago the process reached its database and its event loop last ran, without a request. `live` while
     * neither is too long ago.
     */
    readonly check: Effect.Effect<{
      readonly live: boolean
      readonly checks: Readonly<Record<"database" | "loop", ReadinessCheck>>
    }>
  }
>()("ballast/domain/health/Liveness") {}

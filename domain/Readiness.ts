/** Port: whether this process can do its work, so that a load balancer may send it requests. */
import { Context, type Effect } from "effect"

/** One thing that the service cannot work without. */
export interface ReadinessCheck {
  readonly ok: boolean
  /** For people, and public: holds no address, credential or other tenant data. */
  readonly detail: string
}

/**
 * Whether this process can do its work now.
 *
 * **When to use**
 *
 * Use to answer `GET /health/ready` and in the doctor of the command line. Whether only another start helps is
 * `Liveness`.
 */
export class Readiness extends Context.Service<
  Readiness,
  {
    /** Checks every dependency within a bounded time; `ready` when all of them answered. */
    readonly check: Effect.Effect<{
      readonly ready: boolean
      readonly checks: Readonly<Record<string, ReadinessCheck>>
    }>
  }
>()("ballast/domain/Readiness") {}

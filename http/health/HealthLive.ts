/**
 * `GET /health/live`: the process answers, and has reached its database and its own loop lately; 503, with which of
 * them it misses, when only another start may help. `GET /health/ready`: it can do its work; 503 while it cannot. What
 * was found is answered for a second, so that frequent probes query the database once a second.
 */
import { Duration, Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Liveness } from "#domain/health/Liveness.ts"
import { Readiness } from "#domain/health/Readiness.ts"

const uncached = { "cache-control": "no-store" }
const keptFor = Duration.seconds(1)

export const HealthLive = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const liveness = yield* Liveness
    const readiness = yield* Readiness

    // The first caller may hang up; the others that wait for the same answer still get it.
    const check = yield* Effect.cachedWithTTL(Effect.uninterruptible(readiness.check), keptFor)

    const ready = Effect.map(check, ({ ready, checks }) =>
      HttpServerResponse.jsonUnsafe(
        { status: ready ? "ready" : "not ready", checks },
        { status: ready ? 200 : 503, headers: uncached }
      )
    )

    const live = Effect.map(liveness.check, ({ checks, live }) =>
      live
        ? HttpServerResponse.jsonUnsafe({ status: "live" }, { headers: uncached })
        : HttpServerResponse.jsonUnsafe({ status: "not live", checks }, { status: 503, headers: uncached })
    )

    yield* router.add("GET", "/health/live", live)
    yield* router.add("GET", "/health/ready", ready)
  })
)

/** `GET /health/live`: the process answers. `GET /health/ready`: it can do its work; 503 while it cannot. */
import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Readiness } from "#domain/Readiness.ts"

const uncached = { "cache-control": "no-store" }

export const HealthLive = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const readiness = yield* Readiness

    const ready = Effect.map(readiness.check, ({ ready, checks }) =>
      HttpServerResponse.jsonUnsafe(
        { status: ready ? "ready" : "not ready", checks },
        { status: ready ? 200 : 503, headers: uncached }
      )
    )

    yield* router.add("GET", "/health/live", HttpServerResponse.jsonUnsafe({ status: "live" }, { headers: uncached }))
    yield* router.add("GET", "/health/ready", ready)
  })
)

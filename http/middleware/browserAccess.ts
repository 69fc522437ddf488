/**
 * Lets pages of the named origins call the service with their session's cookie, and read what it says about limits and
 * tracing. Other pages' scripts are refused by the browser. Source: Fetch standard, "CORS protocol".
 */
import { Duration, Layer } from "effect"
import { HttpRouter } from "effect/http"

/** How long a browser may remember what it was told. */
const remembered = Duration.hours(1)

export const browserAccess = (origins: ReadonlyArray<string>): Layer.Layer<never, never, HttpRouter.HttpRouter> =>
  origins.length === 0
    ? Layer.empty
    : HttpRouter.cors({
        allowedOrigins: origins,
        allowedMethods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
        allowedHeaders: [
          "authorization",
          "content-type",
          "idempotency-key",
          "last-event-id",
          "traceparent",
          "x-api-key"
        ],
        exposedHeaders: [
          "idempotent-replayed",
          "retry-after",
          "x-correlation-id",
          "x-ratelimit-limit",
          "x-ratelimit-remaining",
          "x-ratelimit-reset",
          "x-request-id"
        ],
        credentials: true,
        maxAge: Duration.toSeconds(remembered)
      })

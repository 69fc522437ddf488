/**
 * Lets pages call the service and read what it says about limits and tracing. Those of the deployment's origins may do
 * so with their session's cookie, those of a tenant's origins with that tenant's keys. Other pages' scripts are refused
 * by the browser. Source: Fetch standard, "CORS protocol".
 */
import { Context, Duration, Effect } from "effect"
import { HttpEffect, HttpMiddleware, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { TenantOrigins } from "#domain/tenant/TenantOrigins.ts"
import { RequestContext } from "#http/middleware/RequestContext.ts"

/** How long a browser may remember what it was told. */
const remembered = Duration.hours(1)

const allowed = {
  allowedMethods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
  allowedHeaders: [
    "authorization",
    "b3",
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
  maxAge: Duration.toSeconds(remembered)
}

export const browserAccess = (origins: ReadonlyArray<string>) =>
  HttpRouter.middleware(
    Effect.gen(function* () {
      const tenants = yield* TenantOrigins
      const own = new Set(origins)
      const toOwn = HttpMiddleware.cors({ ...allowed, allowedOrigins: (origin) => own.has(origin), credentials: true })
      const toTenants = HttpMiddleware.cors({ ...allowed, allowedOrigins: tenants.isNamed })

      /** Whose key the request has is known with its answer; a tenant's page reads answers to that tenant's keys. */
      const withhold = (
        request: HttpServerRequest.HttpServerRequest,
        response: HttpServerResponse.HttpServerResponse
      ) =>
        Effect.withFiber<HttpServerResponse.HttpServerResponse>((fiber) => {
          const context = Context.getOrUndefined(fiber.context as Context.Context<RequestContext>, RequestContext)
          const tenantId = context?.caller?.tenantId
          return Effect.succeed(
            tenantId === undefined || tenants.isNamedBy(tenantId, request.headers["origin"]!)
              ? response
              : HttpServerResponse.removeHeader(response, "access-control-allow-origin")
          )
        })

      return (httpEffect) => {
        const ours = toOwn(httpEffect)
        // Added last, so it runs last: what the library has allowed is taken back.
        const withheld = Effect.withFiber((fiber) => {
          HttpEffect.appendPreResponseHandlerUnsafe(fiber.context, withhold)
          return httpEffect
        })
        const theirs = toTenants(withheld)
        return Effect.withFiber((fiber) => {
          const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
          const { origin } = request.headers
          if (origin === undefined) return httpEffect
          return own.has(origin) || !tenants.isNamed(origin) ? ours : theirs
        })
      }
    }),
    { global: true }
  )

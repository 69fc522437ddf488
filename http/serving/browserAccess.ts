/**
 * Lets pages call the service and read its headers about limits and tracing. Those of the deployment's origins may do
 * so with their session's cookie, those of a tenant's origins with that tenant's keys or with none. Other pages'
 * scripts are refused by the browser. Source: Fetch standard, "CORS protocol".
 */
import { Context, Duration, Effect } from "effect"
import { HttpEffect, HttpMiddleware, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { ApiKeys } from "#domain/identity/ApiKeys.ts"
import { bearerIn, keyHeaderIn } from "#domain/identity/access/presented.ts"
import type { TenantId } from "#domain/values/Ids.ts"
import { TenantOrigins } from "#domain/tenant/TenantOrigins.ts"
import { RequestContext } from "#domain/request/RequestContext.ts"

/** What a request presents, in either header that routes read; cookies do not count here. */
const presentedIn = (headers: HttpServerRequest.HttpServerRequest["headers"]): ReadonlyArray<string> => {
  const key = keyHeaderIn(headers)
  // What is no bearer token is nobody's, and stands for itself.
  return [...(key === undefined ? [] : [key]), ...(headers["authorization"] ? [bearerIn(headers) ?? ""] : [])]
}

/** Refused before anything of a tenant was read: the key is none, or there were too many requests. */
const unattributed: ReadonlySet<number> = new Set([401, 429])

/** How long a browser may cache the answer. */
const preflightMaxAge = Duration.hours(1)

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
  maxAge: Duration.toSeconds(preflightMaxAge)
}

export const browserAccess = (origins: ReadonlyArray<string>) =>
  HttpRouter.middleware(
    Effect.gen(function* () {
      const tenants = yield* TenantOrigins
      const keys = yield* ApiKeys
      const own = new Set(origins)
      const toOwn = HttpMiddleware.cors({ ...allowed, allowedOrigins: (origin) => own.has(origin), credentials: true })
      const toTenants = HttpMiddleware.cors({ ...allowed, allowedOrigins: tenants.isNamed })

      /** Tenant of the key that came with a request; undefined where that is no key in use. */
      const tenantOf = (key: string) =>
        Effect.withFiber<TenantId | undefined>((fiber) => {
          const context = Context.getOrUndefined(fiber.context as Context.Context<RequestContext>, RequestContext)
          if (context?.caller !== undefined) return Effect.succeed(context.caller.tenantId)
          // Some routes do not record whose key it is; some need none and have one all the same.
          return keys.authenticate(key).pipe(
            Effect.map(({ tenantId }) => tenantId),
            Effect.catchCause(() => Effect.undefined)
          )
        })

      /** Whose key the request has is known with its answer; a tenant's page reads answers to that tenant's keys. */
      const withhold = (
        request: HttpServerRequest.HttpServerRequest,
        response: HttpServerResponse.HttpServerResponse
      ) => {
        const [presented, ...others] = presentedIn(request.headers)
        const isAllowed = response.headers["access-control-allow-origin"] !== undefined
        if (!isAllowed || presented === undefined || unattributed.has(response.status)) return Effect.succeed(response)
        const refused = HttpServerResponse.removeHeader(response, "access-control-allow-origin")
        // Routes differ in which of the two headers they read.
        if (others.length > 0) return Effect.succeed(refused)
        return Effect.map(tenantOf(presented), (tenantId) =>
          tenantId !== undefined && tenants.isNamedBy(tenantId, request.headers["origin"]!) ? response : refused
        )
      }

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
          return own.has(origin) ? ours : theirs
        })
      }
    }),
    { global: true }
  )

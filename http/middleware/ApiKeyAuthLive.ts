/**
 * Authentication is woven into each endpoint when the routes are built, so a request pays for reading one header and a
 * call of ApiKeys, not for finding out what its endpoint needs.
 */
import { Context, Effect, type Fiber, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { KeyMissing } from "#domain/errors/Errors.ts"
import { ApiKeys } from "#domain/identity/ApiKeys.ts"
import { Caller } from "#domain/identity/Caller.ts"
import { PortfolioTenant } from "#domain/identity/access/PortfolioTenant.ts"
import { keyHeaderIn } from "#domain/identity/access/presented.ts"
import { requireScope } from "#domain/identity/access/requireScope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { RequestContext } from "#domain/request/RequestContext.ts"
import { RequiredScope } from "#http/RequiredScope.ts"

type Authenticated = ReturnType<ApiKeyAuth["Service"]>

export const ApiKeyAuthLive = Layer.effect(
  ApiKeyAuth,
  Effect.gen(function* () {
    const keys = yield* ApiKeys

    return ApiKeyAuth.of((httpEffect, { endpoint }) => {
      const scope = Context.get(endpoint.annotations, RequiredScope)
      const handled = httpEffect as Effect.Effect<Effect.Success<typeof httpEffect>, Effect.Error<typeof httpEffect>>

      const authorize = (caller: Caller["Service"], fiber: Fiber.Fiber<unknown, unknown>): Authenticated => {
        // Every route stands in RequestContextLive; a group that is tried by itself need not.
        const context = Context.getOrUndefined(fiber.context as Context.Context<RequestContext>, RequestContext)
        if (context !== undefined) context.caller = caller
        return Effect.flatMapEager(requireScope(caller, scope), () => {
          // Set, not provided: the route restores the context when it ends. The type above records that this has been
          // done.
          fiber.setContext(Context.add(Context.add(fiber.context, Caller, caller), PortfolioTenant, caller))
          return handled
        })
      }

      return Effect.withFiber((fiber): Authenticated => {
        const secret = keyHeaderIn(Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest).headers)
        if (secret === undefined) {
          return Effect.fail(new KeyMissing({ message: "Send an API key in the x-api-key header" }))
        }
        return Effect.flatMapEager(keys.authenticate(secret), (caller) => authorize(caller, fiber))
      })
    })
  })
)

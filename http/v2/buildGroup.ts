/** Builds the handlers of a group of routes among its middleware and the services that it names, and nothing else. */
import type { Context } from "effect"
import { buildWith } from "#domain/effects/buildWith.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { Idempotency } from "#http/middleware/Idempotency.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"

export const buildGroup = <const Services extends ReadonlyArray<Context.Key<unknown, unknown>>>(
  ...services: Services
) => buildWith(ApiKeyAuth, EndpointLimit, Idempotency, RequestErrors, ...services)

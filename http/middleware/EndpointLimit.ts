/** Middleware: counts the request for its key and address in the endpoint's tier. Runs inside ApiKeyAuth. */
import { HttpApiMiddleware } from "effect/http-api"
import type { Caller } from "#domain/identity/Caller.ts"
import { RateLimited } from "#http/wireErrors.ts"

export class EndpointLimit extends HttpApiMiddleware.Service<EndpointLimit, { requires: Caller }>()(
  "ballast/http/middleware/EndpointLimit",
  { error: RateLimited }
) {}

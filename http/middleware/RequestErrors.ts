/** Middleware: turns a request that does not have the endpoint's form into `ValidationFailed`. */
import { HttpApiMiddleware } from "effect/http-api"
import { BodyTooLarge, Internal, RateLimited, Unavailable, ValidationFailed } from "#http/wireErrors.ts"

/**
 * Declares what any route can answer before or after its handler runs: too many requests, an oversized body, a fault, a
 * database that is away.
 */
export class RequestErrors extends HttpApiMiddleware.Service<RequestErrors>()("ballast/http/middleware/RequestErrors", {
  error: [ValidationFailed, RateLimited, BodyTooLarge, Internal, Unavailable]
}) {}

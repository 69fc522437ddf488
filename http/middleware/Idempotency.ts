/**
 * Middleware of endpoints that create: a request with `Idempotency-Key` is carried out once, and answered again as it
 * was for 24 hours. Runs inside ApiKeyAuth and EndpointLimit.
 */
import { Context } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import type { Caller } from "#domain/identity/Caller.ts"
import { ReplayInProgress, ReplayMismatch, ValidationFailed } from "#http/wireErrors.ts"

/**
 * Endpoint annotation: all that the endpoint does is written to the database, so it is committed with its answer. Not
 * for endpoints that call other systems or start a run: ids in their bodies keep them from doing it twice.
 */
export const CommitsWithAnswer = Context.Reference<boolean>("ballast/http/middleware/CommitsWithAnswer", {
  defaultValue: () => false
})

export const idempotencyHeader = "idempotency-key"

/** Visible ASCII. */
export const idempotencyKeyPattern = /^[!-~]{1,255}$/u

export class Idempotency extends HttpApiMiddleware.Service<Idempotency, { requires: Caller }>()(
  "ballast/http/middleware/Idempotency",
  { error: [ReplayInProgress, ReplayMismatch, ValidationFailed] }
) {}

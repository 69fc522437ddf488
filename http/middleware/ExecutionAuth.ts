/**
 * Middleware: the reader of executions, by an API key with the scope that the endpoint is annotated with, or by a
 * wallet session. It also counts the request in its endpoint's tier. Source: shapes 2.26.
 */
import { HttpApiMiddleware } from "effect/http-api"
import type { ExecutionReader } from "#domain/execution/ExecutionReader.ts"
import {
  KeyExpired,
  KeyInvalid,
  KeyMissing,
  PermissionDenied,
  RateLimited,
  SessionInvalid,
  TenantDisabled
} from "#http/wireErrors.ts"

export class ExecutionAuth extends HttpApiMiddleware.Service<ExecutionAuth, { provides: ExecutionReader }>()(
  "ballast/http/middleware/ExecutionAuth",
  {
    requiredForClient: true,
    error: [KeyMissing, KeyInvalid, KeyExpired, SessionInvalid, PermissionDenied, TenantDisabled, RateLimited]
  }
) {}

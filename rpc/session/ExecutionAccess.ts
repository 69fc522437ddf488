/**
 * Middleware: the reader of executions, by an API key (`x-api-key`, or as a bearer token) or by a wallet session. It
 * also counts the call in its procedure's tier.
 * Source: shapes 2.26.
 */
import { Schema } from "effect"
import { RpcMiddleware } from "effect/rpc"
import * as Errors from "#domain/errors/Errors.ts"
import type { ExecutionReader } from "#domain/execution/ExecutionReader.ts"

export class ExecutionAccess extends RpcMiddleware.Service<ExecutionAccess, { provides: ExecutionReader }>()(
  "ballast/rpc/session/ExecutionAccess",
  {
    error: Schema.Union([
      Errors.KeyMissing,
      Errors.KeyInvalid,
      Errors.KeyExpired,
      Errors.SessionInvalid,
      Errors.PermissionDenied,
      Errors.TenantDisabled,
      Errors.RateLimited
    ])
  }
) {}

/**
 * Middleware: the caller behind `x-api-key`, which must have the scope that the endpoint is annotated with.
 * Source: interface "Authentication".
 */
import { HttpApiMiddleware } from "effect/http-api"
import type { Caller } from "#domain/identity/Caller.ts"
import type { PortfolioTenant } from "#domain/identity/access/PortfolioTenant.ts"
import { KeyExpired, KeyInvalid, KeyMissing, PermissionDenied, TenantDisabled } from "#http/wireErrors.ts"

export class ApiKeyAuth extends HttpApiMiddleware.Service<ApiKeyAuth, { provides: Caller | PortfolioTenant }>()(
  "ballast/http/middleware/ApiKeyAuth",
  {
    requiredForClient: true,
    error: [KeyMissing, KeyInvalid, KeyExpired, PermissionDenied, TenantDisabled]
  }
) {}

/** Middleware: `Authorization: Bearer <ADMIN_TOKEN>`. Source: interface "Authentication" 8. */
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { KeyInvalid, KeyMissing } from "#http/wireErrors.ts"

export class AdminAuth extends HttpApiMiddleware.Service<AdminAuth>()("ballast/http/admin/AdminAuth", {
  security: { adminToken: HttpApiSecurity.bearer },
  error: [KeyMissing, KeyInvalid]
}) {}

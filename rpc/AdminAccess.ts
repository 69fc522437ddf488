/** Middleware: `Authorization: Bearer <ADMIN_TOKEN>`. Source: interface "Authentication" 8. */
import { Schema } from "effect"
import { RpcMiddleware } from "effect/rpc"
import { KeyInvalid, KeyMissing } from "#domain/errors/Errors.ts"

export class AdminAccess extends RpcMiddleware.Service<AdminAccess>()("ballast/rpc/AdminAccess", {
  error: Schema.Union([KeyMissing, KeyInvalid])
}) {}

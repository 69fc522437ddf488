/**
 * Middleware: on every procedure of clients, so that input that is not valid is one of its errors, on each wire. The
 * wires read the input before a call begins, so there is nothing left for it to do.
 */
import { RpcMiddleware } from "effect/rpc"
import { ValidationFailed } from "#domain/errors/Errors.ts"

export class ValidInput extends RpcMiddleware.Service<ValidInput>()("ballast/rpc/ValidInput", {
  error: ValidationFailed
}) {}

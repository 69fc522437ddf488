/** Middleware: answers every error of an admin route in the v1 envelope. Must be the outermost. */
import { HttpApiMiddleware } from "effect/http-api"
import type { Exchange } from "#http/middleware/Exchange.ts"

export class AdminErrors extends HttpApiMiddleware.Service<AdminErrors, { requires: Exchange }>()("ballast/http/admin/AdminErrors") {}

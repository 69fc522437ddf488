/** Middleware: answers every error of an admin route in the v1 envelope. Must be the outermost. */
import { HttpApiMiddleware } from "effect/http-api"

export class AdminErrors extends HttpApiMiddleware.Service<AdminErrors>()("ballast/http/admin/AdminErrors") {}

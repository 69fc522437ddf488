/** Middleware: writes one line of the log for every call of an admin route, refused ones too. Must be the outermost. */
import { HttpApiMiddleware } from "effect/http-api"

export class AdminAudit extends HttpApiMiddleware.Service<AdminAudit>()("ballast/http/admin/AdminAudit") {}

/** Middleware: answers every error of a v1 route in the v1 envelope. Must be the outermost. */
import { HttpApiMiddleware } from "effect/http-api"

export class ErrorsV1 extends HttpApiMiddleware.Service<ErrorsV1>()("ballast/http/middleware/ErrorsV1") {}

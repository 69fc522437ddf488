import { Context, Effect, Exit, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { AdminAudit } from "#http/admin/AdminAudit.ts"
import { RequestContext } from "#domain/request/RequestContext.ts"

/** The path as it was requested, without the query, in the length that the log accepts. */
const pathOf = (url: string): string => url.split("?", 1)[0]!.slice(0, 500)

export const AdminAuditLive = Layer.succeed(
  AdminAudit,
  AdminAudit.of((httpEffect, { endpoint }) =>
    Effect.withFiber((fiber) => {
      const context = fiber.context as Context.Context<RequestContext | HttpServerRequest.HttpServerRequest>
      const { address, correlationId, requestId } = Context.get(context, RequestContext)
      const { method, url } = Context.get(context, HttpServerRequest.HttpServerRequest)
      return Effect.onExit(httpEffect, (exit) =>
        Effect.annotateLogs(Effect.logInfo("Admin call"), {
          action: endpoint.identifier,
          method,
          path: pathOf(url),
          // What did not become an answer is a fault of ours, which the caller sees as such.
          status: Exit.isSuccess(exit) ? exit.value.status : 500,
          address,
          correlationId,
          requestId
        })
      )
    })
  )
)

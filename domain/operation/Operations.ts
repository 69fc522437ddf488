/** Reads operations of the calling tenant's portfolios. Source: shapes 2.21. */
import { Context, Effect, Layer, Option } from "effect"
import { type Page, type PageQuery, page, pageRequest } from "#domain/values/Cursor.ts"
import { type CursorInvalid, NotFound } from "#domain/errors/Errors.ts"
import { PortfolioTenant } from "#domain/identity/access/PortfolioTenant.ts"
import type { OperationId, PortfolioId } from "#domain/values/Ids.ts"
import type { Operation, ReportedOperation } from "#domain/operation/Operation.ts"
import { type OperationFilter, OperationStore } from "#domain/operation/OperationStore.ts"
import { spanIsAbout } from "#domain/effects/spanAttributes.ts"

/**
 * Operations of the calling tenant, with their reports.
 *
 * **When to use**
 *
 * Use in routes that are called with a key. Streams, and readers with a session, are `Executions`.
 */
export class Operations extends Context.Service<
  Operations,
  {
    readonly get: (
      portfolioId: PortfolioId,
      operationId: OperationId
    ) => Effect.Effect<ReportedOperation, NotFound, PortfolioTenant>
    /** Lists operations of all portfolios of the tenant, or of the one that the filter names; newest first. */
    readonly list: (
      query: PageQuery & OperationFilter
    ) => Effect.Effect<Page<Operation>, CursorInvalid, PortfolioTenant>
  }
>()("ballast/domain/operation/Operations") {
  static readonly layer = Layer.effect(
    Operations,
    Effect.gen(function* () {
      const store = yield* OperationStore

      const get = Effect.fn("Operations.get")(function* (portfolioId: PortfolioId, operationId: OperationId) {
        yield* spanIsAbout({ operationId })
        const { tenantId } = yield* PortfolioTenant
        const operation = yield* store.find(tenantId, portfolioId, operationId)
        if (Option.isNone(operation)) {
          return yield* new NotFound({ message: `Portfolio ${portfolioId} has no operation ${operationId}` })
        }
        return operation.value
      })

      const list = Effect.fn("Operations.list")(function* (query: PageQuery & OperationFilter) {
        const { tenantId } = yield* PortfolioTenant
        const request = yield* pageRequest("operations", query)
        const rows = yield* store.list(tenantId, query, request)
        return page({ list: "operations", limit: request.limit, rows }, (row) => ({
          createdAt: row.submittedAt,
          id: row.operationId
        }))
      })

      return Operations.of({ get, list })
    })
  )
}

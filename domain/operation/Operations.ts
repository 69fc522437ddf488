/** Reads operations of the calling tenant's portfolios. Source: shapes 2.21. */
import { Context, Effect, Layer, Option } from "effect"
import { NotFound } from "#domain/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"
import type { OperationId, PortfolioId } from "#domain/Ids.ts"
import type { Operation } from "#domain/operation/Operation.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"

export class Operations extends Context.Service<
  Operations,
  { readonly get: (portfolioId: PortfolioId, operationId: OperationId) => Effect.Effect<Operation, NotFound, Caller> }
>()("ballast/domain/operation/Operations") {
  static readonly layer = Layer.effect(
    Operations,
    Effect.gen(function* () {
      const store = yield* OperationStore

      const get = Effect.fn("Operations.get")(function* (portfolioId: PortfolioId, operationId: OperationId) {
        const { tenantId } = yield* Caller
        const operation = yield* store.find(tenantId, portfolioId, operationId)
        if (Option.isNone(operation)) {
          return yield* new NotFound({ message: `Portfolio ${portfolioId} has no operation ${operationId}` })
        }
        return operation.value
      })

      return Operations.of({ get })
    })
  )
}

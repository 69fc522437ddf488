/**
 * Cancels operations on request: what is not signed yet is never sent, what is signed is waited for, and the run itself
 * ends the operation and reports what landed.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { NotFound, OperationNotCancellable } from "#domain/errors/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"
import type { OperationId, PortfolioId, TenantId } from "#domain/values/Ids.ts"
import type { ReportedOperation } from "#domain/operation/Operation.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { spanIsAbout } from "#domain/effects/spanAttributes.ts"

/**
 * Cancels operations.
 *
 * **When to use**
 *
 * Use `cancel` for requests of a tenant, and `cancelAwaiting` where automation is stopped.
 *
 * **Details**
 *
 * The answer may still be running: what is signed is waited for.
 */
export class Cancellations extends Context.Service<
  Cancellations,
  {
    /** Returns the operation as it is now; a repeated call changes nothing. */
    readonly cancel: (
      portfolioId: PortfolioId,
      operationId: OperationId
    ) => Effect.Effect<ReportedOperation, NotFound | OperationNotCancellable, Caller>
    /** The runs of a portfolio that wait for its owner. */
    readonly cancelAwaiting: (tenantId: TenantId, portfolioId: PortfolioId) => Effect.Effect<void>
  }
>()("ballast/domain/operation/Cancellations") {
  static readonly layer = Layer.effect(
    Cancellations,
    Effect.gen(function* () {
      const store = yield* OperationStore
      const { launch, wake } = yield* OperationLauncher

      const cancel = Effect.fn("Cancellations.cancel")(function* (portfolioId: PortfolioId, operationId: OperationId) {
        yield* spanIsAbout({ operationId })
        const { tenantId } = yield* Caller
        const answer = yield* store.requestCancel({ tenantId, portfolioId, operationId, now: yield* DateTime.now })
        switch (answer._tag) {
          case "Unknown":
            return yield* new NotFound({ message: `Portfolio ${portfolioId} has no operation ${operationId}` })
          case "TooLate":
            return yield* new OperationNotCancellable({ message: answer.reason })
          case "Requested": {
            const { operation } = answer
            // One whose run was never launched is ended by its run as well.
            if (operation.finishedAt === null && operation.state === "accepted") yield* launch(operation)
            if (operation.finishedAt === null) yield* wake(operation)
            return operation
          }
        }
      })

      const cancelAwaiting = Effect.fn("Cancellations.cancelAwaiting")(function* (
        tenantId: TenantId,
        portfolioId: PortfolioId
      ) {
        const awaiting = yield* store.cancelAwaiting(tenantId, portfolioId, yield* DateTime.now)
        yield* Effect.forEach(awaiting, wake, { discard: true })
      })

      return Cancellations.of({ cancel, cancelAwaiting })
    })
  )
}

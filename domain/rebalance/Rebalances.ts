/** Manual rebalances. Source: interface "Rebalance trigger rule", shapes 2.20 and Z. */
import { Context, DateTime, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { type PlanChanged, PortfolioNotFound, RateLimited, type ValidationFailed } from "#domain/errors/Errors.ts"
import { PortfolioTenant } from "#domain/identity/access/PortfolioTenant.ts"
import { makeOperationId, type PortfolioId } from "#domain/values/Ids.ts"
import type { Operation } from "#domain/operation/Operation.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { revokedRefusal } from "#domain/portfolio/Portfolios.ts"
import { Previews } from "#domain/rebalance/preview/Previews.ts"
import { RebalanceSettings } from "#domain/rebalance/RebalanceSettings.ts"

/**
 * Rebalances on request.
 *
 * **When to use**
 *
 * Use in the route that starts a run. Runs of the schedule are started by `Scheduler`.
 *
 * **Details**
 *
 * An unfinished run is answered in place of a second one, so a repeated request is safe.
 *
 * **Example** (Starts a run and answers its id)
 *
 * ```ts
 * import { Effect } from "effect"
 * import type { PortfolioId } from "#domain/values/Ids.ts"
 * import { Rebalances } from "#domain/rebalance/Rebalances.ts"
 *
 * const start = (portfolioId: PortfolioId) =>
 *   Effect.gen(function* () {
 *     const rebalances = yield* Rebalances
 *     const { operationId } = yield* rebalances.trigger(portfolioId)
 *     return operationId
 *   }).pipe(Effect.catchTag("RateLimited", ({ message }) => Effect.succeed(message)))
 * ```
 */
export class Rebalances extends Context.Service<
  Rebalances,
  {
    /**
     * Starts a run, or answers the one that is not finished; refused during the cooldown of the last manual one, and
     * when the owner revoked the agent's permission.
     */
    readonly trigger: (
      portfolioId: PortfolioId
    ) => Effect.Effect<Operation, PortfolioNotFound | ValidationFailed | RateLimited, PortfolioTenant>
    /** Triggers a run, refused also when it would now differ from the preview of this hash. */
    readonly triggerAsPreviewed: (
      portfolioId: PortfolioId,
      planHash: string
    ) => Effect.Effect<Operation, PortfolioNotFound | PlanChanged | ValidationFailed | RateLimited, PortfolioTenant>
  }
>()("ballast/domain/rebalance/Rebalances") {
  static readonly layer = Layer.effect(
    Rebalances,
    Effect.gen(function* () {
      const store = yield* OperationStore
      const launcher = yield* OperationLauncher
      const previews = yield* Previews
      const { cooldownMs } = yield* RebalanceSettings
      const random = yield* SecureRandom.SecureRandom

      const trigger = Effect.fn("Rebalances.trigger")(function* (portfolioId: PortfolioId) {
        const { tenantId } = yield* PortfolioTenant
        const now = yield* DateTime.now
        const submission = yield* store.submitManual({
          operationId: yield* Effect.provideService(makeOperationId, SecureRandom.SecureRandom, random),
          tenantId,
          portfolioId,
          now,
          cooldownMs
        })
        switch (submission._tag) {
          case "Submitted":
            yield* launcher.launch(submission.operation)
            return submission.operation
          case "Running":
            return submission.operation
          case "CoolingDown": {
            const retryAfterSeconds = Math.max(
              1,
              Math.ceil((submission.until.epochMilliseconds - now.epochMilliseconds) / 1000)
            )
            return yield* new RateLimited({
              message: `The portfolio was rebalanced a moment ago; retry in ${retryAfterSeconds} s`,
              retryAfterSeconds
            })
          }
          case "Revoked":
            return yield* revokedRefusal(portfolioId)
          case "NoPortfolio":
            return yield* new PortfolioNotFound({ message: `There is no portfolio ${portfolioId} of this tenant` })
        }
      })

      const triggerAsPreviewed = Effect.fn("Rebalances.triggerAsPreviewed")(
        (portfolioId: PortfolioId, planHash: string) =>
          Effect.andThen(previews.requireUnchanged(portfolioId, planHash), trigger(portfolioId))
      )

      return Rebalances.of({ trigger, triggerAsPreviewed })
    })
  ).pipe(Layer.provideMerge(Previews.layer))
}

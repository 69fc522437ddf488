/** What an operator makes, approves and removes of workflows; those of strategies follow their strategy instead. */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { NotFound, PortfolioNotFound, ValidationFailed } from "#domain/errors/Errors.ts"
import { makeWorkflowId, type PortfolioId, type WorkflowId } from "#domain/values/Ids.ts"
import type { Monitor } from "#domain/monitor/Monitor.ts"
import { maxWorkflows, MonitorStore } from "#domain/monitor/MonitorStore.ts"
import { begin } from "#domain/monitor/transitions.ts"
import type { Trigger } from "#domain/monitor/Trigger.ts"

/** A workflow to make: with a trigger, or by the clock. */
export interface WorkflowDraft {
  readonly portfolioId: PortfolioId
  readonly title: string
  readonly trigger: Trigger | null
  /** Milliseconds between two runs of one that runs by the clock; null: it runs once. */
  readonly everyMs: number | null
  /** Now when left out. */
  readonly firstRunAt: DateTime.Utc | null
  readonly isRepeated: boolean
  readonly needsApproval: boolean
}

/**
 * Workflows that an operator makes.
 *
 * **When to use**
 *
 * Use in admin routes. Workflows of a strategy's triggers follow the strategy by themselves.
 */
export class Workflows extends Context.Service<
  Workflows,
  {
    readonly create: (draft: WorkflowDraft) => Effect.Effect<Monitor, PortfolioNotFound | ValidationFailed>
    /** An approved workflow is left as it is. */
    readonly approve: (workflowId: WorkflowId) => Effect.Effect<Monitor, NotFound>
    readonly remove: (workflowId: WorkflowId) => Effect.Effect<void, NotFound>
  }
>()("ballast/domain/monitor/Workflows") {
  static readonly layer = Layer.effect(
    Workflows,
    Effect.gen(function* () {
      const store = yield* MonitorStore
      const random = yield* SecureRandom.SecureRandom

      const require = Effect.fnUntraced(function* (workflowId: WorkflowId) {
        const monitor = yield* store.find(workflowId)
        if (Option.isNone(monitor)) return yield* new NotFound({ message: `There is no workflow ${workflowId}` })
        return monitor.value
      })

      const create = Effect.fn("Workflows.create")(function* (draft: WorkflowDraft) {
        const now = yield* DateTime.now
        const workflowId = yield* Effect.provideService(makeWorkflowId, SecureRandom.SecureRandom, random)
        const kind = draft.trigger === null ? "scheduled" : "triggered"
        const { everyMs, isRepeated, portfolioId, title, trigger } = draft
        const status = draft.needsApproval ? "pending_approval" : "active"
        const inserted = yield* store.insert(
          { workflowId, portfolioId, title, kind, trigger, everyMs, isRepeated, status },
          begin({ kind }, now, draft.firstRunAt ?? now),
          now
        )
        switch (inserted) {
          case "no_portfolio":
            return yield* new PortfolioNotFound({ message: `There is no portfolio ${portfolioId}` })
          case "too_many":
            return yield* new ValidationFailed({
              message: `Portfolio ${portfolioId} has ${maxWorkflows} workflows; remove one before another is made`,
              details: [`portfolioId: Expected a portfolio with less than ${maxWorkflows} workflows`]
            })
          case "inserted":
            return yield* Effect.orDie(require(workflowId))
        }
      })

      const approve = Effect.fn("Workflows.approve")(function* (workflowId: WorkflowId) {
        yield* require(workflowId)
        yield* store.approve(workflowId, yield* DateTime.now)
        return yield* require(workflowId)
      })

      const remove = Effect.fn("Workflows.remove")(function* (workflowId: WorkflowId) {
        if (yield* store.remove(workflowId)) return
        return yield* new NotFound({
          message: `There is no workflow ${workflowId} that may be removed; one of a strategy ends with the strategy's triggers`
        })
      })

      return Workflows.of({ create, approve, remove })
    })
  )
}

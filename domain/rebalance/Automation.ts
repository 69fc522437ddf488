/**
 * The automation of a portfolio as the legacy routes show it: one switch, what it did, and a run on demand. The
 * schedule is the strategy's; nothing here changes how often it is due. Source: shapes 2.30, B.
 */
import { Context, Effect, Layer } from "effect"
import { type NotFound, PortfolioNotFound, type RateLimited, ValidationFailed } from "#domain/errors/Errors.ts"
import type { PortfolioTenant } from "#domain/identity/access/PortfolioTenant.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"
import type { Operation } from "#domain/operation/Operation.ts"
import type { Portfolio } from "#domain/portfolio/Portfolio.ts"
import { Portfolios } from "#domain/portfolio/Portfolios.ts"
import { Rebalances } from "#domain/rebalance/Rebalances.ts"
import { type AutomationRecord, RunHistory } from "#domain/rebalance/RunHistory.ts"
import { intervalMs } from "#domain/mandate/RebalanceSchedule.ts"

export interface StartRequest {
  /** Milliseconds: the interval of the strategy's schedule, which is the only one, or what clients send by default. */
  readonly interval: number | undefined
  /** True starts a run immediately. */
  readonly runImmediately: boolean
}

/** Six hours: what legacy clients send who chose nothing. The answer has the strategy's own. Source: shapes 2.30. */
const defaultInterval = 21_600_000

export interface AutomationStarted {
  readonly portfolio: Portfolio
  /** The requested run; null when none was, or the cooldown of the last one has not passed. */
  readonly run: Operation | null
}

export interface AutomationStatus {
  readonly portfolio: Portfolio
  readonly record: AutomationRecord
}

/** `inactive`: the portfolio has no schedule. */
export const automationStateOf = ({ schedule }: Portfolio): "active" | "paused" | "inactive" =>
  schedule === null ? "inactive" : schedule.status

/**
 * Automation as v1 has it.
 *
 * **When to use**
 *
 * Use in the legacy routes alone. v2 uses `Portfolios` and `Rebalances`.
 */
export class Automation extends Context.Service<
  Automation,
  {
    readonly status: (
      portfolioId: PortfolioId,
      limit: number
    ) => Effect.Effect<AutomationStatus, NotFound, PortfolioTenant>
    readonly start: (
      portfolioId: PortfolioId,
      request: StartRequest
    ) => Effect.Effect<AutomationStarted, PortfolioNotFound | ValidationFailed, PortfolioTenant>
    /** `evenPaused` false: the schedule must be active. */
    readonly trigger: (
      portfolioId: PortfolioId,
      evenPaused: boolean
    ) => Effect.Effect<Operation, PortfolioNotFound | ValidationFailed | RateLimited, PortfolioTenant>
  }
>()("ballast/domain/rebalance/Automation") {
  static readonly layer = Layer.effect(
    Automation,
    Effect.gen(function* () {
      const portfolios = yield* Portfolios
      const rebalances = yield* Rebalances
      const history = yield* RunHistory

      const status = Effect.fn("Automation.status")(function* (portfolioId: PortfolioId, limit: number) {
        const portfolio = yield* portfolios.get(portfolioId)
        return { portfolio, record: yield* history.read(portfolio.tenantId, portfolioId, limit) }
      })

      const requirePortfolio = (portfolioId: PortfolioId) =>
        Effect.mapError(portfolios.get(portfolioId), ({ message }) => new PortfolioNotFound({ message }))

      const start = Effect.fn("Automation.start")(function* (portfolioId: PortfolioId, request: StartRequest) {
        const { schedule } = yield* requirePortfolio(portfolioId)
        const own = schedule === null ? undefined : intervalMs[schedule.frequency]
        const isOther = request.interval !== own && request.interval !== defaultInterval
        if (request.interval !== undefined && own !== undefined && isOther) {
          return yield* new ValidationFailed({
            message:
              "The interval is the strategy's; leave it out, or set the schedule at /v2/strategies/{id}/schedule",
            details: [`interval: the strategy's is ${own} milliseconds`]
          })
        }
        const portfolio = yield* portfolios.start(portfolioId)
        if (!request.runImmediately) return { portfolio, run: null }
        // The switch is on by now, and the schedule due: a cooldown only means that the run comes a little later.
        const run = yield* Effect.catchTag(rebalances.trigger(portfolioId), "RateLimited", () => Effect.succeed(null))
        return { portfolio, run }
      })

      const trigger = Effect.fn("Automation.trigger")(function* (portfolioId: PortfolioId, evenPaused: boolean) {
        const portfolio = yield* requirePortfolio(portfolioId)
        const state = automationStateOf(portfolio)
        if (!evenPaused && state !== "active") {
          return yield* new ValidationFailed({
            message: "The schedule is not active; resume it, or send skipScheduleValidation true",
            details: [`skipScheduleValidation: the schedule is ${state}`]
          })
        }
        return yield* rebalances.trigger(portfolioId)
      })

      return Automation.of({ status, start, trigger })
    })
  )
}

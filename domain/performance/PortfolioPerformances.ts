/** How a portfolio performed, from the valuations of up to twelve months. Source: shapes 2.25. */
import { Context, DateTime, Effect, Layer } from "effect"
import * as Day from "#domain/values/Day.ts"
import type { NotFound } from "#domain/errors/Errors.ts"
import type { PortfolioTenant } from "#domain/identity/access/PortfolioTenant.ts"
import type { PortfolioId, StrategyId } from "#domain/values/Ids.ts"
import type { PerformanceWindow } from "#domain/performance/PerformanceWindow.ts"
import { portfolioCurve, type PortfolioPoint, returnsOf } from "#domain/performance/portfolioCurve.ts"
import { ValuationStore } from "#domain/performance/ValuationStore.ts"
import { earliestDay, firstDay, windowsOf } from "#domain/performance/windowsOf.ts"
import { Portfolios } from "#domain/portfolio/Portfolios.ts"

export interface PortfolioPerformance {
  readonly portfolioId: PortfolioId
  readonly strategyId: StrategyId
  readonly asOf: DateTime.Utc
  /** The open day: its value and return still change. */
  readonly today: Day.Day
  readonly points: ReadonlyArray<PortfolioPoint>
  /** Null with fewer than two points that have a return since it was last counted anew. */
  readonly windows: ReadonlyArray<PerformanceWindow> | null
}

/**
 * How a portfolio performed.
 *
 * **When to use**
 *
 * Use in the route of a portfolio's performance. It reads what `Valuer` and `PortfolioValuer` recorded and calls no
 * chain.
 */
export class PortfolioPerformances extends Context.Service<
  PortfolioPerformances,
  { readonly read: (portfolioId: PortfolioId) => Effect.Effect<PortfolioPerformance, NotFound, PortfolioTenant> }
>()("ballast/domain/performance/PortfolioPerformances") {
  static readonly layer = Layer.effect(
    PortfolioPerformances,
    Effect.gen(function* () {
      const portfolios = yield* Portfolios
      const store = yield* ValuationStore

      const read = Effect.fn("PortfolioPerformances.read")(function* (portfolioId: PortfolioId) {
        const { strategyId } = yield* portfolios.get(portfolioId)
        const asOf = yield* DateTime.now
        const today = Day.of(asOf)
        const valued = yield* store.days(portfolioId, earliestDay(today))
        const first = firstDay(today, valued.at(-1)?.day)
        const points = portfolioCurve(valued.filter(({ day }) => day >= first))
        const returns = returnsOf(points)
        const windows = returns.length < 2 ? null : windowsOf(returns, today)
        return { portfolioId, strategyId, asOf, today, points, windows }
      })

      return PortfolioPerformances.of({ read })
    })
  )
}

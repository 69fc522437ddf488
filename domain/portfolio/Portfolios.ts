/**
 * Portfolios of the calling tenant and their automation switch. Source: interface "States and transitions", shapes 2.17
 * to 2.19.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { type Page, type PageQuery, page, pageRequest } from "#domain/values/Cursor.ts"
import {
  type CursorInvalid,
  type ExternalIdTaken,
  NotFound,
  PortfolioNotFound,
  ValidationFailed
} from "#domain/errors/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"
import { PortfolioTenant } from "#domain/identity/access/PortfolioTenant.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"
import { refusalError } from "#domain/values/Labels.ts"
import { Cancellations } from "#domain/operation/Cancellations.ts"
import { attentionOf } from "#domain/portfolio/Attention.ts"
import type { Portfolio } from "#domain/portfolio/Portfolio.ts"
import type { PortfolioDetail, StoredPortfolio } from "#domain/portfolio/PortfolioDetail.ts"
import { type PortfolioFilter, type PortfolioPatch, PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"

/** What only the owner can lift. */
export const revokedRefusal = (portfolioId: PortfolioId) =>
  new ValidationFailed({
    message: `The owner revoked the agent's permission; let the owner sign anew at /v2/portfolios/${portfolioId}/resign/signature`,
    details: ["portfolioId: revoked by its owner"]
  })

/**
 * Portfolios of the calling tenant.
 *
 * **When to use**
 *
 * Use in routes that are called with a key, and in services that first require a portfolio to be the caller's. What
 * a portfolio holds is `PositionReader`.
 *
 * **Details**
 *
 * A portfolio of another tenant is not found, like one that does not exist.
 *
 * **Example** (Stops automation)
 *
 * ```ts
 * import { Effect } from "effect"
 * import type { PortfolioId } from "#domain/values/Ids.ts"
 * import { Portfolios } from "#domain/portfolio/Portfolios.ts"
 *
 * const stopAutomation = (portfolioId: PortfolioId) =>
 *   Effect.gen(function* () {
 *     const portfolios = yield* Portfolios
 *     const { schedule } = yield* portfolios.get(portfolioId)
 *     return schedule?.status === "active" ? yield* portfolios.stop(portfolioId) : undefined
 *   })
 * ```
 */
export class Portfolios extends Context.Service<
  Portfolios,
  {
    readonly get: (portfolioId: PortfolioId) => Effect.Effect<PortfolioDetail, NotFound, PortfolioTenant>
    readonly list: (
      query: PageQuery & PortfolioFilter
    ) => Effect.Effect<Page<Portfolio>, CursorInvalid, PortfolioTenant>
    /** Changes what the patch has; an empty one changes nothing. */
    readonly update: (
      portfolioId: PortfolioId,
      patch: PortfolioPatch
    ) => Effect.Effect<PortfolioDetail, PortfolioNotFound | ExternalIdTaken | ValidationFailed, Caller>
    /** Resumes automation and makes the next rebalance prompt; already active changes nothing, revoked is refused. */
    readonly start: (
      portfolioId: PortfolioId
    ) => Effect.Effect<PortfolioDetail, PortfolioNotFound | ValidationFailed, PortfolioTenant>
    /**
     * Pauses automation and keeps the due time; already paused changes nothing of it. A run that waits for the owner is
     * cancelled.
     */
    readonly stop: (
      portfolioId: PortfolioId,
      /** Why, for people. */
      note?: string | null
    ) => Effect.Effect<PortfolioDetail, PortfolioNotFound | ValidationFailed, PortfolioTenant>
  }
>()("ballast/domain/portfolio/Portfolios") {
  static readonly layer = Layer.effect(
    Portfolios,
    Effect.gen(function* () {
      const store = yield* PortfolioStore
      const cancellations = yield* Cancellations

      const detail = ({ facts, ...portfolio }: StoredPortfolio): Effect.Effect<PortfolioDetail> =>
        Effect.map(DateTime.now, (now) => ({ ...portfolio, attention: attentionOf(facts, now) }))

      const found = (portfolioId: PortfolioId) => (portfolio: Option.Option<StoredPortfolio>) =>
        Option.isSome(portfolio)
          ? detail(portfolio.value)
          : Effect.fail(new PortfolioNotFound({ message: `There is no portfolio ${portfolioId} of this tenant` }))

      const scheduled = (portfolio: PortfolioDetail) =>
        portfolio.schedule === null
          ? Effect.fail(
              new ValidationFailed({
                message: "The portfolio has no rebalance schedule",
                details: ["portfolioId: the portfolio has no rebalance schedule"]
              })
            )
          : Effect.succeed(portfolio)

      // The busiest read: its span goes without the stack trace that Effect.fn takes at each call.
      const get = Effect.fnUntraced(
        function* (portfolioId: PortfolioId) {
          const { tenantId } = yield* PortfolioTenant
          const portfolio = yield* store.find(tenantId, portfolioId)
          if (Option.isNone(portfolio)) {
            return yield* new NotFound({ message: `There is no portfolio ${portfolioId} that you can access` })
          }
          return yield* detail(portfolio.value)
        },
        Effect.withSpan("Portfolios.get", undefined, { captureStackTrace: false })
      )

      const list = Effect.fn("Portfolios.list")(function* (query: PageQuery & PortfolioFilter) {
        const { tenantId } = yield* PortfolioTenant
        const request = yield* pageRequest("portfolios", query)
        const rows = yield* store.list(tenantId, query, request)
        return page({ list: "portfolios", limit: request.limit, rows }, (row) => ({
          createdAt: row.createdAt,
          id: row.portfolioId
        }))
      })

      const update = Effect.fn("Portfolios.update")(function* (portfolioId: PortfolioId, patch: PortfolioPatch) {
        const { tenantId } = yield* Caller
        const portfolio =
          Object.keys(patch).length === 0
            ? yield* store.find(tenantId, portfolioId)
            : yield* store
                .update({ tenantId, portfolioId, patch, at: yield* DateTime.now })
                .pipe(Effect.mapError((refusal) => refusalError("portfolio", refusal)))
        return yield* found(portfolioId)(portfolio)
      })

      const start = Effect.fn("Portfolios.start")(function* (portfolioId: PortfolioId) {
        const { tenantId } = yield* PortfolioTenant
        const portfolio = yield* store.start(tenantId, portfolioId, yield* DateTime.now)
        const started = yield* Effect.flatMap(found(portfolioId)(portfolio), scheduled)
        if (started.schedule?.pauseReason === "revoked") return yield* revokedRefusal(portfolioId)
        return started
      })

      const stop = Effect.fn("Portfolios.stop")(function* (portfolioId: PortfolioId, note: string | null = null) {
        const { tenantId } = yield* PortfolioTenant
        const portfolio = yield* store.stop(tenantId, portfolioId, { at: yield* DateTime.now, note })
        const stopped = yield* Effect.flatMap(found(portfolioId)(portfolio), scheduled)
        yield* cancellations.cancelAwaiting(tenantId, portfolioId)
        return stopped
      })

      return Portfolios.of({ get, list, update, start, stop })
    })
  ).pipe(Layer.provideMerge(Cancellations.layer))
}

/**
 * Portfolios for a person with a wallet session: those of the tenant that they are a member of, by their role, and
 * those that their wallet owns, whatever their tenant. See docs/decisions/0315-portfolios-of-people.md.
 */
import { Context, Effect, Layer, Option } from "effect"
import { type Page, type PageQuery, page, pageRequest } from "#domain/values/Cursor.ts"
import { type CursorInvalid, PermissionDenied } from "#domain/errors/Errors.ts"
import { PortfolioTenant } from "#domain/identity/access/PortfolioTenant.ts"
import { SignedIn } from "#domain/identity/SignedIn.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"
import type { OwnerAction } from "#domain/mandate/OwnerAction.ts"
import { PortfolioAccessStore, type SeenFilter } from "#domain/portfolio/PortfolioAccessStore.ts"
import type { Portfolio } from "#domain/portfolio/Portfolio.ts"
import { PortfolioStore } from "#domain/portfolio/PortfolioStore.ts"

/** The order of the lists: ids compare as the database compares them. */
const newestFirst = (one: Portfolio, other: Portfolio): number => {
  const byTime = other.createdAt.epochMilliseconds - one.createdAt.epochMilliseconds
  return byTime !== 0 ? byTime : one.portfolioId < other.portfolioId ? 1 : -1
}

/** Runs with the tenant of a portfolio. */
type ForPerson<R> = SignedIn | Exclude<R, PortfolioTenant>

/**
 * Portfolios of a person who signed in.
 *
 * **When to use**
 *
 * Use in procedures with a session. What they read and change is done by the services that keys call as well; this one
 * decides whether the person may.
 *
 * **Details**
 *
 * A portfolio that the person may not see is searched in their own tenant, where it is not: the answer is that of a
 * portfolio that does not exist.
 *
 * **Example** (Reads a portfolio for its owner)
 *
 * ```ts
 * import { Effect } from "effect"
 * import type { PortfolioId } from "#domain/values/Ids.ts"
 * import { PortfolioAccess } from "#domain/portfolio/PortfolioAccess.ts"
 * import { Portfolios } from "#domain/portfolio/Portfolios.ts"
 *
 * const read = (portfolioId: PortfolioId) =>
 *   Effect.gen(function* () {
 *     const access = yield* PortfolioAccess
 *     const portfolios = yield* Portfolios
 *     return yield* access.reading(portfolioId, portfolios.get(portfolioId))
 *   })
 * ```
 */
export class PortfolioAccess extends Context.Service<
  PortfolioAccess,
  {
    /** Newest first. */
    readonly list: (query: PageQuery & SeenFilter) => Effect.Effect<Page<Portfolio>, CursorInvalid, SignedIn>
    /** Admits the owner of the portfolio, and each member of its tenant. */
    readonly reading: <A, E, R>(
      portfolioId: PortfolioId,
      read: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E, ForPerson<R>>
    /** Admits members of its tenant with the role `owner`, and the portfolio's owner where its tenant allows that. */
    readonly acting: <A, E, R>(
      portfolioId: PortfolioId,
      action: OwnerAction,
      act: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | PermissionDenied, ForPerson<R>>
  }
>()("ballast/domain/portfolio/PortfolioAccess") {
  static readonly layer = Layer.effect(
    PortfolioAccess,
    Effect.gen(function* () {
      const store = yield* PortfolioAccessStore
      const portfolios = yield* PortfolioStore

      const reading = Effect.fn("PortfolioAccess.reading")(function* <A, E, R>(
        portfolioId: PortfolioId,
        read: Effect.Effect<A, E, R>
      ) {
        const person = yield* SignedIn
        const seen = yield* store.find(person, portfolioId)
        const { tenantId } = Option.getOrElse(seen, () => person)
        return yield* Effect.provideService(read, PortfolioTenant, { tenantId })
      })

      const acting = Effect.fn("PortfolioAccess.acting")(function* <A, E, R>(
        portfolioId: PortfolioId,
        action: OwnerAction,
        act: Effect.Effect<A, E, R>
      ) {
        const person = yield* SignedIn
        const seen = yield* store.find(person, portfolioId)
        const { tenantId } = Option.getOrElse(seen, () => person)
        if (Option.isSome(seen)) {
          const { isOwned, ownerActions } = seen.value
          const isByRole = tenantId === person.tenantId && person.role === "owner"
          if (!isByRole && !isOwned)
            return yield* new PermissionDenied({ message: "Only owners of the tenant may do this; you are a viewer" })
          if (!isByRole && !ownerActions.includes(action))
            return yield* new PermissionDenied({
              message: `The tenant of portfolio ${portfolioId} does not let its owners ${action} by themselves; it may, by ownerActions of its preferences`
            })
        }
        return yield* Effect.provideService(act, PortfolioTenant, { tenantId })
      })

      const list = Effect.fn("PortfolioAccess.list")(function* (query: PageQuery & SeenFilter) {
        const person = yield* SignedIn
        const request = yield* pageRequest("portfolios", query)
        const [ofTenant, ofWallet] = yield* Effect.all(
          [portfolios.list(person.tenantId, query, request), store.elsewhere(person, query, request)],
          { concurrency: "unbounded" }
        )
        const rows = [...ofTenant, ...ofWallet].sort(newestFirst).slice(0, request.limit + 1)
        const { items, nextCursor } = page({ list: "portfolios", limit: request.limit, rows }, (row) => ({
          createdAt: row.createdAt,
          id: row.portfolioId
        }))
        return { items: items.map((portfolio) => shownTo(person, portfolio)), nextCursor }
      })

      return PortfolioAccess.of({ list, reading, acting })
    })
  )
}

/** A portfolio as a person sees it: labels are the tenant's own notes, for its members alone. */
export const shownTo = <Shown extends Portfolio>(
  { tenantId }: Pick<SignedIn["Service"], "tenantId">,
  portfolio: Shown
): Omit<Shown, "externalId" | "metadata"> & Pick<Portfolio, "externalId" | "metadata"> => {
  if (portfolio.tenantId === tenantId) return portfolio
  const { externalId: _externalId, metadata: _metadata, ...shown } = portfolio
  return shown
}

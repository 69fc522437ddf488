/**
 * Shows what a rebalance would do now. A request that names the preview's hash is refused when a run would do something
 * else by then.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { Digest } from "effect/crypto"
import { Hex } from "effect/encoding"
import { PlanChanged, PortfolioNotFound } from "#domain/errors/Errors.ts"
import { PortfolioTenant } from "#domain/identity/access/PortfolioTenant.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"
import { planChanges } from "#domain/rebalance/preview/planChanges.ts"
import { DryRun, type PlannedNow } from "#domain/rebalance/preview/DryRun.ts"
import { PreviewedPlan } from "#domain/rebalance/preview/Preview.ts"
import { PreviewStore } from "#domain/rebalance/preview/PreviewStore.ts"

/** How long after balances and prices were read a preview may be agreed to. */
const life = { minutes: 10 }

export interface Preview extends PlannedNow {
  /** Names the plan; 64 characters of hex. */
  readonly planHash: string
  readonly expiresAt: DateTime.Utc
}

/**
 * Previews of rebalances.
 *
 * **When to use**
 *
 * Use `make` to show what a run would do. `Rebalances.triggerAsPreviewed` requires that it still would.
 */
export class Previews extends Context.Service<
  Previews,
  {
    /** Reads chains, prices and providers, and changes nothing. What cannot be read is a skip of the plan. */
    readonly make: (portfolioId: PortfolioId) => Effect.Effect<Preview, PortfolioNotFound, PortfolioTenant>
    /** Fails with the difference when a run would now differ from the preview of this hash. */
    readonly requireUnchanged: (
      portfolioId: PortfolioId,
      planHash: string
    ) => Effect.Effect<void, PortfolioNotFound | PlanChanged, PortfolioTenant>
  }
>()("ballast/domain/rebalance/preview/Previews") {
  static readonly layer = Layer.effect(
    Previews,
    Effect.gen(function* () {
      const store = yield* PreviewStore
      const dryRun = yield* DryRun
      const digest = yield* Digest.Digest

      const contextOf = Effect.fnUntraced(function* (portfolioId: PortfolioId) {
        const { tenantId } = yield* PortfolioTenant
        const found = yield* store.context(tenantId, portfolioId)
        if (Option.isSome(found)) return found.value
        return yield* new PortfolioNotFound({ message: `There is no portfolio ${portfolioId} of this tenant` })
      })

      /** Names what would be traded, under which minimums, for which portfolio. */
      const hashOf = (portfolioId: PortfolioId, { chains, ...rest }: PreviewedPlan) => {
        const traded = chains.map(({ chainId, outcome, swaps, transfers }) => ({
          chainId,
          outcome,
          swaps: swaps.map(({ comparedQuotes: _, ...swap }) => swap),
          transfers
        }))
        const text = JSON.stringify([portfolioId, encodePlan({ ...rest, chains: traded.map(asChain) })])
        return Effect.map(digest.digest(Digest.sha256, new TextEncoder().encode(text)), Hex.encode)
      }

      const make = Effect.fn("Previews.make")(function* (portfolioId: PortfolioId) {
        const { plan, plannedAt } = yield* dryRun.plan(yield* contextOf(portfolioId))
        const planHash = yield* hashOf(portfolioId, plan)
        const expiresAt = DateTime.add(plannedAt, life)
        yield* store.keep({ portfolioId, planHash, plan, expiresAt }, plannedAt)
        return { planHash, plan, plannedAt, expiresAt }
      })

      const requireUnchanged = Effect.fn("Previews.requireUnchanged")(function* (
        portfolioId: PortfolioId,
        planHash: string
      ) {
        const context = yield* contextOf(portfolioId)
        const before = yield* store.find(portfolioId, planHash, yield* DateTime.now)
        if (Option.isNone(before)) {
          return yield* new PlanChanged({
            message: "No preview of this portfolio has this planHash, or its 10 minutes are over; ask for a new preview"
          })
        }
        const { plan } = yield* dryRun.plan(context)
        const details = planChanges(before.value, plan)
        if (details.length > 0) {
          return yield* new PlanChanged({
            message: "A run would not do now what was previewed; details say what differs. Ask for a new preview",
            details: [...details]
          })
        }
      })

      return Previews.of({ make, requireUnchanged })
    })
  )
}

const encodePlan = Schema.encodeSync(PreviewedPlan)

/** What of a chain the hash is about. */
const asChain = (chain: Pick<PreviewedPlan["chains"][number], "chainId" | "outcome" | "swaps" | "transfers">) => ({
  ...chain,
  skips: [],
  reason: null,
  gas: null
})

/** Port: previews that may still be executed. */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { PortfolioId, TenantId } from "#domain/values/Ids.ts"
import type { PreviewedPlan } from "#domain/rebalance/preview/Preview.ts"
import type { PlanContext } from "#domain/rebalance/RunStore.ts"

export interface StoredPreview {
  readonly portfolioId: PortfolioId
  readonly planHash: string
  readonly plan: PreviewedPlan
  readonly expiresAt: DateTime.Utc
}

/**
 * Where previews are kept until they expire.
 *
 * **When to use**
 *
 * Use in `Previews` alone.
 */
export class PreviewStore extends Context.Service<
  PreviewStore,
  {
    /** What a plan of the tenant's portfolio is made from; none when there is no such portfolio. */
    readonly context: (tenantId: TenantId, portfolioId: PortfolioId) => Effect.Effect<Option.Option<PlanContext>>
    /** Keeps it until it expires, beside at most nine others of the portfolio; the oldest make room. */
    readonly keep: (preview: StoredPreview, now: DateTime.Utc) => Effect.Effect<void>
    /** None when there was no such preview, or it has expired. */
    readonly find: (
      portfolioId: PortfolioId,
      planHash: string,
      now: DateTime.Utc
    ) => Effect.Effect<Option.Option<PreviewedPlan>>
  }
>()("ballast/domain/rebalance/preview/PreviewStore") {}

/** What the price source said it gives this deployment less of. */
import { Context, Effect, Layer, Ref } from "effect"

export interface PriceLimit {
  /** Tokens that one request may name. */
  readonly tokensPerRequest: number
  /** The source's own words, and what the operator may do. */
  readonly reason: string
}

/**
 * The limit that the price source put on this process, as it was met.
 *
 * **When to use**
 *
 * Use `meet` in the adapter that the source refused, and `current` where requests are made and readiness is reported.
 */
export class PriceLimits extends Context.Service<
  PriceLimits,
  {
    /** Null while the source refused nothing for its size. */
    readonly current: Effect.Effect<PriceLimit | null>
    /** Holds until the process ends: a plan is changed with the key, which needs another start. */
    readonly meet: (limit: PriceLimit) => Effect.Effect<void>
  }
>()("ballast/domain/market/PriceLimits") {
  static readonly layer = Layer.effect(
    PriceLimits,
    Effect.map(Ref.make<PriceLimit | null>(null), (met) =>
      PriceLimits.of({ current: Ref.get(met), meet: (limit) => Ref.set(met, limit) })
    )
  )
}

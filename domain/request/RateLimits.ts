/**
 * Port: request counters in fixed windows of one minute.
 *
 * In memory a counter belongs to one process. Several processes behind one address share the limits of keys over Redis
 * (src/service/requestLimits.ts). Source: shapes 2.29 and Y.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { type Allowance, makeFixedWindows } from "#domain/effects/fixedWindows.ts"
import { RateLimitSettings } from "#domain/request/RateLimitSettings.ts"
import type { RateTier } from "#domain/request/RateTier.ts"

/** Whose request it is, and which counter its route belongs to. */
export interface CountedRequest {
  readonly address: string
  /** The id of its key or of its session. */
  readonly credential: string
  readonly tier: RateTier
}

/**
 * Counts requests of addresses, keys and sessions in windows of a minute.
 *
 * **When to use**
 *
 * Use where a request or a call arrives, with its address, and again with `makeCountRequest` once its sender is known.
 */
export class RateLimits extends Context.Service<
  RateLimits,
  {
    /** Counts a request of which only the address is known, in this process alone. */
    readonly arrive: (address: string) => Effect.Effect<Allowance>
    /**
     * Counts the same request once its key or session is known: that in all its requests, and both that and the address
     * in the tier.
     * Answers the counter that refuses, or else of the tier's counters the one that is nearer to its end.
     */
    readonly consume: (request: CountedRequest) => Effect.Effect<Allowance>
  }
>()("ballast/domain/request/RateLimits") {
  static readonly layerMemory = Layer.effect(
    RateLimits,
    Effect.gen(function* () {
      const settings = yield* RateLimitSettings
      const clock = yield* Clock.Clock
      // Apart, so that many addresses leave the counters of keys and sessions alone.
      const [ofAddresses, ofKeys] = [makeTiers(settings), makeTiers(settings)]

      const count = ({ address, credential, tier }: CountedRequest): Allowance => {
        const now = clock.currentTimeMillisUnsafe()
        const overall = ofKeys.global(credential, now)
        if (tier === "global" || overall.isExceeded) return overall
        const ofKey = ofKeys[tier](credential, now)
        return ofKey.isExceeded ? ofKey : tighter(ofKey, ofAddresses[tier](address, now))
      }

      // Ready values, so that the caller's eager combinators go on without another turn of the fiber.
      return RateLimits.of({
        arrive: (address) => Effect.succeed(ofAddresses.global(address, clock.currentTimeMillisUnsafe())),
        consume: (request) => Effect.succeed(count(request))
      })
    })
  )
}

const makeTiers = (settings: RateLimitSettings["Service"]) => ({
  global: makeFixedWindows(settings.global),
  critical: makeFixedWindows(settings.critical),
  general: makeFixedWindows(settings.general),
  burst: makeFixedWindows(settings.burst)
})

/** The one that refuses, or else the one that is nearer to its end. */
export const tighter = (a: Allowance, b: Allowance): Allowance => {
  if (a.isExceeded !== b.isExceeded) return a.isExceeded ? a : b
  return b.remaining < a.remaining ? b : a
}

/**
 * How many requests a minute one key, one session and one address may make in each tier, over all wires. Filled by
 * src/Config.ts; defaults in shapes Y.
 */
import { Context } from "effect"
import type { RateTier } from "#domain/request/RateTier.ts"

/**
 * Requests a minute in each tier.
 *
 * **When to use**
 *
 * Use in implementations of `RateLimits`.
 */
export class RateLimitSettings extends Context.Service<RateLimitSettings, Readonly<Record<RateTier, number>>>()(
  "ballast/domain/request/RateLimitSettings"
) {}

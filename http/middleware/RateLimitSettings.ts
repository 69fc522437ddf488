/**
 * How many requests a minute one key, and one address, may make in each tier. Filled by src/Config.ts; defaults in
 * shapes Y.
 */
import { Context } from "effect"
import type { RateTier } from "#http/RateTier.ts"

export class RateLimitSettings extends Context.Service<RateLimitSettings, Readonly<Record<RateTier, number>>>()(
  "ballast/http/middleware/RateLimitSettings"
) {}

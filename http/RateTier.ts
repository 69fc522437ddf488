/**
 * Endpoint annotation: which request counter a route belongs to. All routes of a tier share its counter, and every
 * request counts into `global` besides. Source: shapes 2.29 and Y.
 */
import { Context } from "effect"

/** `critical`: expensive; `general`; `burst`: cheap reads; `global`: no counter of its own. */
export type RateTier = "global" | "critical" | "general" | "burst"

export const RateTier = Context.Reference<RateTier>("ballast/http/RateTier", { defaultValue: () => "general" })

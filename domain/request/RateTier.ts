/**
 * Annotation of a route or a procedure: the request counter to which it belongs. All of a tier share its counter, and
 * every request counts into `global` besides. Source: shapes 2.29 and Y.
 */
import { Context } from "effect"

/** `critical`: expensive; `general`; `burst`: cheap reads; `global`: no counter of its own. */
export type RateTier = "global" | "critical" | "general" | "burst"

export const RateTier = Context.Reference<RateTier>("ballast/domain/request/RateTier", {
  defaultValue: () => "general"
})

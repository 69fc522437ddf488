/**
 * Which run a statement belongs to, and which hold on it the process has. Each claim of a run raises its generation, so that
 * who has lost a run by now, and does not know it yet, changes nothing any more.
 */
import { Context } from "effect"

export interface Fence {
  readonly executionId: string
  readonly generation: bigint
}

/** Set around what a step of a run does; nothing outside of runs. */
export const RunFence = Context.Reference<Fence | undefined>("ballast/layers/sql/run/RunFence", {
  defaultValue: () => undefined
})

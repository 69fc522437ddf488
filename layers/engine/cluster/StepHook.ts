/**
 * Called for each step of a run once it is stored, with the run's payload. For hints alone: it may be called twice for
 * a step, or not at all.
 */
import { Context } from "effect"

export const StepHook = Context.Reference<(payload: object) => void>("ballast/layers/engine/cluster/StepHook", {
  defaultValue: () => () => {}
})

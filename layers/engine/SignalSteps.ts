/** Wakes the followers of an operation when its run has stored a step: what the step wrote is committed by then. */
import { Effect, Layer } from "effect"
import { OperationTails } from "#domain/execution/OperationTails.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { StepHook } from "#layers/engine/cluster/StepHook.ts"

/** Every workflow of the service is the run of one operation. */
const operationOf = (payload: object) => (payload as { readonly operationId: OperationId }).operationId

export const SignalSteps = Layer.effect(
  StepHook,
  Effect.map(
    OperationTails,
    ({ changed }) =>
      (payload: object) =>
        changed(operationOf(payload))
  )
)

/** A run in this process. */
import type { Effect, Scope } from "effect"
import type { Workflow, WorkflowEngine } from "effect/workflow"
import type { Claimed } from "#layers/sql/ExecutionStore.ts"

/** A kind of workflow, and what carries it out for as long as its scope is open. */
export interface Registration {
  readonly workflow: Workflow.Any
  readonly execute: (
    payload: object,
    executionId: string
  ) => Effect.Effect<unknown, unknown, WorkflowEngine.WorkflowInstance | WorkflowEngine.WorkflowEngine>
  readonly scope: Scope.Scope
}

export interface LocalRun {
  readonly executionId: string
  readonly registration: Registration
  readonly payload: object
  /** Stored results by step; what the body is replayed over. */
  steps: ReadonlyMap<string, string>
  /** A step could not be stored, so memory and database may differ. */
  mustReplay: boolean
  /** Milliseconds since the epoch at which the earliest durable timer ends; infinite without one. */
  wakeAt: number
  /** What was claimed again while this run was ending. */
  next: Claimed | undefined
}

export const localRun = (
  registration: Registration,
  executionId: string,
  payload: object,
  steps: ReadonlyMap<string, string>
): LocalRun => ({
  executionId,
  registration,
  payload,
  steps,
  mustReplay: false,
  wakeAt: Infinity,
  next: undefined
})

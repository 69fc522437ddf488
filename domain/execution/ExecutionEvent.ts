/** An event in the stream of an operation. Source: interface "Events", shapes 2.26 and N. */
import type { DateTime, Schema } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import type { OperationId, PortfolioId } from "#domain/values/Ids.ts"
import type { Operation, OperationState } from "#domain/operation/Operation.ts"
import type { ExecutionCursor } from "#domain/execution/ExecutionCursor.ts"

/** A transaction that decided a part of an operation on its chain. */
export interface LandedStep {
  readonly chainId: ChainId
  /** Names the included action on its chain, as a user operation; null where none was included, as in a withdrawal. */
  readonly actionHash: string | null
  readonly txHash: string
  readonly success: boolean
}

/** What a completed operation did. */
export interface ExecutionResult {
  /** Names the durable run: kind and operation. */
  readonly executionKey: string
  readonly portfolioId: PortfolioId
  readonly steps: ReadonlyArray<LandedStep>
  /** The operation was `retrying` on its way. */
  readonly recovered: boolean
}

export interface ExecutionError {
  readonly code: "EXECUTION_FAILED" | "EXECUTION_CANCELLED"
  /** Sentence for people. */
  readonly message: string
  /** True where the request may succeed when it is sent again. */
  readonly retryable: boolean
}

/** What the events up to a position in the stream say. */
export interface StatusAtCursor {
  /** Null before the first event. */
  readonly state: OperationState | null
  readonly error: string | null
  readonly completedSteps: number
  /** Null until the first step is done. */
  readonly totalSteps: number | null
}

export type ExecutionBody =
  | {
      readonly kind: "execution.snapshot"
      readonly operation: Operation
      /** Up to the cursor of the snapshot, where the stream goes on; the operation above is as it is now. */
      readonly standing: StatusAtCursor
      /** The last event that the snapshot includes. */
      readonly includes: ExecutionCursor
    }
  | {
      readonly kind: "execution.state_changed"
      /** Null for the first state. */
      readonly from: OperationState | null
      readonly to: OperationState
    }
  | {
      readonly kind: "execution.timeline_appended"
      /** Sentence for people. */
      readonly message: string
      /** Code for machines: what happened; `data` has its particulars. */
      readonly event: string
      readonly data: Schema.Json
    }
  | {
      readonly kind: "execution.progress"
      readonly message: string
      readonly completedSteps: number
      readonly totalSteps: number
    }
  | { readonly kind: "execution.result"; readonly result: ExecutionResult }
  | { readonly kind: "execution.error"; readonly error: ExecutionError }

export interface ExecutionEvent {
  readonly operationId: OperationId
  /** Where a client stands that has seen it. */
  readonly cursor: ExecutionCursor
  readonly at: DateTime.Utc
  readonly body: ExecutionBody
}

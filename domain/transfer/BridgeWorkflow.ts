/** The durable watch over one transfer between chains. Names of activities are part of what is stored. */
import { Schema } from "effect"
import { Workflow } from "effect/workflow"
import { OperationId } from "#domain/values/Ids.ts"
import { WorkflowVersion } from "#domain/operation/WorkflowVersion.ts"

export const BridgeWorkflow = Workflow.make("Bridge", {
  payload: { operationId: OperationId },
  success: Schema.Void,
  idempotencyKey: ({ operationId }) => operationId
}).annotate(WorkflowVersion, { current: 1, continues: [1] })

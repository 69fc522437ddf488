/**
 * The durable run of one rebalance operation.
 *
 * The body is replayed from the top after a crash; only activities have effects, and each finished one answers what it
 * answered the first time. Names of activities are the replay contract: they are part of what is stored.
 */
import { Schema } from "effect"
import { Workflow } from "effect/workflow"
import { OperationId } from "#domain/values/Ids.ts"
import { WorkflowVersion } from "#domain/operation/WorkflowVersion.ts"

export const RebalanceWorkflow = Workflow.make("Rebalance", {
  payload: { operationId: OperationId },
  success: Schema.Void,
  idempotencyKey: ({ operationId }) => operationId
}).annotate(WorkflowVersion, { current: 1, continues: [1] })

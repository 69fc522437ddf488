/**
 * The durable run of one action of an owner.
 *
 * As with rebalances, the body is replayed after a crash and the names of its activities are part of what is stored.
 */
import { Schema } from "effect"
import { Workflow } from "effect/workflow"
import { OperationId } from "#domain/values/Ids.ts"
import { WorkflowVersion } from "#domain/operation/WorkflowVersion.ts"

export const OrderWorkflow = Workflow.make("Action", {
  payload: { operationId: OperationId },
  success: Schema.Void,
  idempotencyKey: ({ operationId }) => operationId
}).annotate(WorkflowVersion, { current: 1, continues: [1] })

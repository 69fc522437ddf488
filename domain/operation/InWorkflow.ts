/**
 * What the body of an operation's workflow needs of the engine that runs it: making steps, and the id of its run.
 */
import type { WorkflowEngine } from "effect/workflow"

export type InWorkflow = WorkflowEngine.WorkflowEngine | WorkflowEngine.WorkflowInstance

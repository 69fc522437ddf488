/**
 * What the body of an operation's workflow needs of the engine that runs it: to make steps, and to know which run it
 * is.
 */
import type { WorkflowEngine } from "effect/workflow"

export type InWorkflow = WorkflowEngine.WorkflowEngine | WorkflowEngine.WorkflowInstance

/** What runs workflows: the durable engine over the service's own database, and the bound on what it does at once. */
import { Layer } from "effect"
import { DurableEngine } from "#layers/engine/durable/DurableEngine.ts"
import { RunsInFlight } from "#layers/engine/durable/RunsInFlight.ts"

export const WorkflowRuntime = DurableEngine.pipe(Layer.provideMerge(RunsInFlight.layer))

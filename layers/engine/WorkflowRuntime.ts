/** What runs workflows: the durable engine over the service's own database, the bound on what it does at once, and its broom. */
import { Layer } from "effect"
import { DurableEngine } from "#layers/engine/durable/DurableEngine.ts"
import { RunHistory } from "#layers/engine/durable/RunHistory.ts"
import { RunsInFlight } from "#layers/engine/durable/RunsInFlight.ts"

export const WorkflowRuntime = Layer.mergeAll(DurableEngine, RunHistory).pipe(Layer.provideMerge(RunsInFlight.layer))

/**
 * What runs workflows: the engine of the cluster over the service's own database, the bound on what it does at once,
 * its alarm, and its broom.
 */
import { Layer } from "effect"
import { ClusterEngine } from "#layers/engine/cluster/ClusterEngine.ts"
import { RunAlarm } from "#layers/engine/cluster/RunAlarm.ts"
import { RunHistory } from "#layers/engine/cluster/RunHistory.ts"
import { RunCalls } from "#layers/engine/cluster/RunCalls.ts"
import { RunsInFlight } from "#layers/engine/cluster/RunsInFlight.ts"
import { ShardsLive } from "#layers/engine/cluster/Shards.ts"

/** The runtime over a way to hold shards. */
export const runtimeOn = <E, R>(shards: Layer.Layer<Layer.Success<typeof ShardsLive>, E, R>) =>
  Layer.mergeAll(ClusterEngine.pipe(Layer.provide(shards)), RunAlarm, RunHistory).pipe(
    Layer.provide(RunCalls.layer),
    Layer.provideMerge(RunsInFlight.layer)
  )

export const WorkflowRuntime = runtimeOn(ShardsLive)

/**
 * The durable workflow engine over the service's own database: one runner in this process.
 *
 * Timers are stored messages that are looked for a few times a second, so a wake-up is late by at most that much.
 */
import { NodeCrypto } from "@effect/platform-node"
import { Duration, Layer } from "effect"
import { ClusterWorkflowEngine, SingleRunner } from "effect/cluster"

const pollInterval = Duration.millis(250)

export const WorkflowRuntime = ClusterWorkflowEngine.layer.pipe(
  Layer.provideMerge(
    SingleRunner.layer({ runnerStorage: "memory", shardingConfig: { entityMessagePollInterval: pollInterval } })
  ),
  Layer.provide(NodeCrypto.layerDigest)
)

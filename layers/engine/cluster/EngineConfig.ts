/** How many runs a process carries out, and how long what is left of them is kept. */
import { Context } from "effect"

export class EngineConfig extends Context.Service<
  EngineConfig,
  {
    /** How many runs one process works on at once; what is due beyond that waits. None: it holds no shards. */
    readonly maxRunsInFlight: number
    /** Milliseconds that a finished run's steps are kept, so that people can inspect it. */
    readonly runRetentionMs: number
  }
>()("ballast/layers/engine/cluster/EngineConfig") {}

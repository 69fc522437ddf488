/** Bounds of the streams of operations. Filled from the environment by src/Config.ts. */
import { Context } from "effect"

export class StreamSettings extends Context.Service<
  StreamSettings,
  {
    /** Streams that one process has open at once, and of these at most for one tenant. */
    readonly maxOpen: number
    readonly maxOpenPerTenant: number
    /** How often events of other processes are looked for while a stream is open, in milliseconds. */
    readonly pollIntervalMs: number
  }
>()("ballast/domain/execution/StreamSettings") {}

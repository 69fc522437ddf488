/** Bounds of the streams of operations. Filled from the environment by src/Config.ts. */
import { Context } from "effect"

/**
 * Bounds of the streams of operations and events.
 *
 * **When to use**
 *
 * Use in the services that open streams. Bounds of the market-data worker are `WorkerSettings`.
 */
export class StreamSettings extends Context.Service<
  StreamSettings,
  {
    /** Streams that one process has open at once. */
    readonly maxOpen: number
    /** Most streams with keys for one tenant, one key and one address each. */
    readonly maxOpenPerTenant: number
    readonly maxOpenPerKey: number
    readonly maxOpenPerAddress: number
    /** Most streams with wallet sessions, which anybody has for a signature; the others are kept for keys. */
    readonly maxOpenOfSessions: number
    /** Most streams of sessions for one session, one tenant and one address each. */
    readonly maxOpenPerSession: number
    readonly maxOpenOfSessionsPerTenant: number
    readonly maxOpenOfSessionsPerAddress: number
    /** How often events of other processes are polled for while a stream is open, in milliseconds. */
    readonly pollIntervalMs: number
    /** How often everybody who has a stream open is judged again, in milliseconds. */
    readonly recheckIntervalMs: number
  }
>()("ballast/domain/execution/StreamSettings") {}

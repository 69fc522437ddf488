/** What a deployment may set of the stream worker. */
import { Context } from "effect"

export interface WorkerSettingsValue {
  /** Where clients reach the worker, as `baseUrl` of a ticket. */
  readonly publicUrl: string
  /** Origins of pages that may open sockets; null lets every page. Clients that are not browsers send none. */
  readonly allowedOrigins: ReadonlyArray<string> | null
  readonly ticketLifeSeconds: number
  /** Tickets a minute for one address. */
  readonly ticketsPerMinute: number
  /** Events of each asset that can be replayed. */
  readonly replayWindow: number
  /** Bytes that may wait for one socket before it counts as behind. */
  readonly bytesPerSocket: number
  readonly maxSockets: number
  readonly maxSocketsPerAddress: number
  /** Time for which an asset without followers is still fetched, so that a client that comes back finds no gap. */
  readonly lingerMs: number
  /** Most public assets of the registry. */
  readonly maxAssets: number
}

/**
 * What a deployment may set of the stream worker.
 *
 * **When to use**
 *
 * Use in the market-data worker alone. Bounds of the streams of operations are `StreamSettings`.
 */
export class WorkerSettings extends Context.Service<WorkerSettings, WorkerSettingsValue>()(
  "ballast/domain/stream/WorkerSettings"
) {}

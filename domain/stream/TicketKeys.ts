/**
 * The keys that sign tickets. The first signs; all verify, so that a key is rotated by adding its successor before it.
 */
import { Context, type Redacted } from "effect"

export interface TicketKey {
  readonly id: string
  readonly secret: Redacted.Redacted
}

/**
 * Keys that sign tickets of streams.
 *
 * **When to use**
 *
 * Use where tickets are issued and verified, which is the market-data worker.
 */
export class TicketKeys extends Context.Service<TicketKeys, readonly [TicketKey, ...ReadonlyArray<TicketKey>]>()(
  "ballast/domain/stream/TicketKeys"
) {}

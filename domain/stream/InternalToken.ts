/** The secret between the API and the stream worker. Source: interface "Authentication" 8. */
import { Context, type Redacted } from "effect"

export const internalTokenHeader = "x-market-data-stream-internal-token"

/**
 * The secret between the API and the stream worker.
 *
 * **When to use**
 *
 * Use on both ends of the calls between them, and nowhere else.
 */
export class InternalToken extends Context.Service<InternalToken, Redacted.Redacted>()(
  "ballast/domain/stream/InternalToken"
) {}

/** Networks whose `X-Forwarded-For` is trusted. */
import { Context } from "effect"
import type { IpNetwork } from "effect/net"

/**
 * Networks whose `X-Forwarded-For` is trusted.
 *
 * **When to use**
 *
 * Use to find the address of a client. Without any, the address is the one of the connection.
 */
export class TrustedProxies extends Context.Service<TrustedProxies, ReadonlyArray<IpNetwork.IpNetwork>>()(
  "ballast/domain/stream/TrustedProxies"
) {}

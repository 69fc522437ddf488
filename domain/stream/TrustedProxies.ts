/** Networks whose `X-Forwarded-For` is believed. */
import { Context } from "effect"
import type { IpNetwork } from "effect/net"

export class TrustedProxies extends Context.Service<TrustedProxies, ReadonlyArray<IpNetwork.IpNetwork>>()(
  "ballast/domain/stream/TrustedProxies"
) {}

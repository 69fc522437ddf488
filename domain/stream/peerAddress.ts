/**
 * Which client a request comes from. `X-Forwarded-For` is trusted from configured proxies alone: from the right, the
 * first address that is no such proxy is the client's, since what stands left of it the client may have written itself.
 */
import { Option, Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"
import { clientAddress } from "#domain/values/clientAddress.ts"

export const peerAddress = (
  remote: string | undefined,
  forwardedFor: string | undefined,
  proxies: ReadonlyArray<IpNetwork.IpNetwork>
): string => {
  const isProxy = (text: string) =>
    Option.match(Result.getSuccess(NetAddress.ipFromString(text)), {
      onNone: () => false,
      onSome: (address) => proxies.some((network) => IpNetwork.contains(network, NetAddress.toCanonical(address)))
    })
  if (remote === undefined || forwardedFor === undefined || !isProxy(remote)) return clientAddress(remote)
  const hops = forwardedFor.split(",").map((hop) => hop.trim())
  const client = hops.findLast((hop) => !isProxy(hop)) ?? hops[0]!
  return Result.isSuccess(NetAddress.ipFromString(client)) ? clientAddress(client) : clientAddress(remote)
}

/**
 * What connections may cost the process: an address has no more than its share of them, and none is held by an answer
 * that does not come or that its client does not take. Streams end by rules of their own (`http/streaming/`).
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Duration, Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"
import { clientAddress } from "#domain/values/clientAddress.ts"

export interface ConnectionBounds {
  /** Open connections of one address; an IPv6 address counts as its /64. */
  readonly maxPerAddress: number
  /** Their connections bring the requests of many addresses, and are not counted. */
  readonly trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>
  /** Time until an answer must have been taken whole; the routes end waits of their own earlier. */
  readonly longestAnswer: Duration.Duration
}

const checkIntervalMs = 2_500

const isIn = (networks: ReadonlyArray<IpNetwork.IpNetwork>, address: string): boolean => {
  const parsed = NetAddress.ipFromString(address)
  return Result.isSuccess(parsed) && networks.some((network) => IpNetwork.contains(network, parsed.success))
}

/** Closes connections of an address beyond its share as they arrive. */
const boundAddresses = (server: Server, { maxPerAddress, trustedProxies }: ConnectionBounds) => {
  const open = new Map<string, number>()
  server.on("connection", (socket: Socket) => {
    const { remoteAddress } = socket
    const address = clientAddress(remoteAddress)
    // A mapped address is its IPv4 address, as networks are written.
    const host = address.includes(":") ? (remoteAddress ?? "") : address
    if (trustedProxies.length > 0 && isIn(trustedProxies, host)) return
    const count = (open.get(address) ?? 0) + 1
    if (count > maxPerAddress) return void socket.destroy()
    open.set(address, count)
    socket.once("close", () => {
      const left = open.get(address)! - 1
      if (left === 0) open.delete(address)
      else open.set(address, left)
    })
  })
}

/** A body that goes on. To clients of HTTP/1.0 it ends with the connection, so that only its head says so. */
const isStream = ({ httpVersionMinor }: IncomingMessage, response: ServerResponse): boolean =>
  response.headersSent && (response.chunkedEncoding || httpVersionMinor === 0)

/** Ends connections whose answer has not been taken whole in time, whatever holds it up. */
const boundAnswers = (server: Server, { longestAnswer }: ConnectionBounds) => {
  const longest = Duration.toMillis(longestAnswer)
  const waiting = new Map<ServerResponse, { readonly request: IncomingMessage; readonly since: number }>()
  const note = (request: IncomingMessage, response: ServerResponse) => {
    waiting.set(response, { request, since: performance.now() })
    response.once("close", () => void waiting.delete(response))
  }
  // With the routes and not before, as the server takes the first listener of others for them.
  const attach = (event: string) => {
    if (event !== "request") return
    server.off("newListener", attach)
    server.on("request", note)
  }
  server.on("newListener", attach)
  const end = () => {
    const before = performance.now() - longest
    for (const [response, { request, since }] of waiting) {
      if (since > before) return
      waiting.delete(response)
      if (!isStream(request, response)) request.socket.destroy()
    }
  }
  const timer = setInterval(end, checkIntervalMs).unref()
  server.once("close", () => clearInterval(timer))
}

export const boundedConnections = (server: Server, bounds: ConnectionBounds): Server => {
  boundAddresses(server, bounds)
  boundAnswers(server, bounds)
  return server
}

/**
 * A Node server that cuts connections until the routes are attached. Without it a request that arrives while the
 * service starts would be accepted and never answered. To whoever asks it is as if nobody listened: an answer, of
 * whichever status, would end clients for good that connect again by themselves (an `EventSource` does after a
 * connection that fails, and never after a status other than 200), and a proxy would pass it on.
 */
import { createServer, type Server } from "node:http"
import type { Socket } from "node:net"

const cut = (connection: Socket) => void connection.destroy()

/** Time from the first byte of a request to its last: a slow client holds a connection no longer. */
const requestTimeoutMs = 15_000
const headersTimeoutMs = 10_000
/** How often connections are checked for such requests, so that they end within 20 seconds. */
const checkIntervalMs = 2_500

/** What an operator may set of the connections of a server. */
export interface ServerLimits {
  /** Connections beyond are closed as they arrive. */
  readonly maxConnections: number
  /** How long a connection without a request stays open: longer than whatever stands before it keeps it. */
  readonly keepAliveSeconds: number
}

export const startingServer =
  ({ keepAliveSeconds, maxConnections }: ServerLimits) =>
  (): Server => {
    const server = createServer({
      keepAliveTimeout: keepAliveSeconds * 1_000,
      requestTimeout: requestTimeoutMs,
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: checkIntervalMs
    })
    server.maxConnections = maxConnections
    server.on("connection", cut)
    server.on("newListener", (event) => {
      if (event === "request") server.off("connection", cut)
    })
    return server
  }

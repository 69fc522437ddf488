/**
 * A Node server that answers 503 until the routes are attached. Without it a request that arrives while the service
 * starts would be accepted and never answered.
 */
import { createServer, type RequestListener, type Server } from "node:http"
import { Internal } from "#domain/Errors.ts"

const body = JSON.stringify({
  success: false,
  error: { code: Internal.contract.code, message: "The service is starting; retry in a second" }
})

const starting: RequestListener = (_, response) => {
  response.writeHead(503, { "content-type": "application/json", "retry-after": "1", connection: "close" }).end(body)
}

/** From the first byte of a request to its last: a slow client holds a connection no longer. */
const requestTimeoutMs = 15_000
const headersTimeoutMs = 10_000
/** How often connections are checked for such requests, so that they end within 20 seconds. */
const checkIntervalMs = 2_500

/** Connections beyond `maxConnections` are closed as they arrive. */
export const startingServer = (maxConnections: number) => (): Server => {
  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: checkIntervalMs
    },
    starting
  )
  server.maxConnections = maxConnections
  server.on("newListener", (event, listener) => {
    if (event === "request" && listener !== starting) server.off("request", starting)
  })
  return server
}

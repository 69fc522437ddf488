/**
 * A Node server that answers 503 until the routes are attached. Without it a request that arrives while the service starts
 * would be accepted and never answered.
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

export const startingServer = (): Server => {
  const server = createServer(starting)
  server.on("newListener", (event, listener) => {
    if (event === "request" && listener !== starting) server.off("request", starting)
  })
  return server
}

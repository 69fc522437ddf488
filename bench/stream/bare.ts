/** The peer: a broadcast loop on `ws`, as its own documentation shows it. The text of a message is made once. */
import type { AddressInfo } from "node:net"
import { WebSocketServer } from "ws"
import { eventOf, serve } from "#bench/stream/serve.ts"

const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false, backlog: 4_096 })
server.on("connection", (socket) => socket.on("error", () => {}))
server.on("listening", () =>
  serve({
    port: (server.address() as AddressInfo).port,
    path: "/",
    publish: (messages) => {
      for (const message of messages) {
        const text = JSON.stringify(eventOf(message))
        for (const client of server.clients) if (client.readyState === client.OPEN) client.send(text)
      }
    },
    cut: () => server.clients.forEach((client) => client.terminate())
  })
)

/** The other peer: Socket.IO, over WebSocket alone, emitting to everybody. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Server } from "socket.io"
import { eventOf, serve } from "#bench/stream/serve.ts"

const http = createServer()
const io = new Server(http, { transports: ["websocket"], perMessageDeflate: false, serveClient: false })
http.listen({ port: 0, host: "127.0.0.1", backlog: 4_096 }, () =>
  serve({
    port: (http.address() as AddressInfo).port,
    path: "/socket.io/?EIO=4&transport=websocket",
    publish: (messages) => {
      for (const message of messages) io.emit("event", eventOf(message))
    },
    cut: () => io.disconnectSockets(true)
  })
)

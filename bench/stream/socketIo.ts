/** The other peer: Socket.IO, over WebSocket alone, emitting to everybody. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Server } from "socket.io"
import { serve } from "#bench/stream/serve.ts"

const http = createServer()
const io = new Server(http, { transports: ["websocket"], perMessageDeflate: false, serveClient: false })
http.listen({ port: 0, host: "127.0.0.1", backlog: 4_096 }, () =>
  serve(
    (http.address() as AddressInfo).port,
    "/socket.io/?EIO=4&transport=websocket",
    (messages) => {
      for (const { atMicros, index } of messages) {
        io.emit("event", {
          v: 1,
          type: "event",
          topic: "asset:crypto:ETH:quote:tick",
          sequence: 1_760_000_000_000_000 + index,
          previous: 1_760_000_000_000_000 + index - 1,
          symbol: "ETH",
          data: {
            kind: "quote",
            priceUsd: `${atMicros}`,
            change24hPct: null,
            volume24hUsd: null,
            marketCapUsd: null,
            asOfMs: 1_760_000_000_000 + index
          }
        })
      }
    },
    () => io.disconnectSockets(true)
  )
)

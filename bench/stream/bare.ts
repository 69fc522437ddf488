/** The peer: a broadcast loop on `ws`, as its own documentation shows it. The text of a message is made once. */
import type { AddressInfo } from "node:net"
import { WebSocketServer } from "ws"
import { serve } from "#bench/stream/serve.ts"

const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false, backlog: 4_096 })
server.on("connection", (socket) => socket.on("error", () => {}))
server.on("listening", () =>
  serve(
    (server.address() as AddressInfo).port,
    "/",
    (messages) => {
      for (const { atMicros, index } of messages) {
        const text = JSON.stringify({
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
        for (const client of server.clients) if (client.readyState === client.OPEN) client.send(text)
      }
    },
    () => server.clients.forEach((client) => client.terminate())
  )
)

/** How a peer is run: it gets its settings as the first message and answers with the port that it listens on. */
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"

/** Calls `start` with the settings, and ends with the harness. */
export const serve = <Settings>(start: (settings: Settings) => Promise<Server>): void => {
  process.once("message", (settings: Settings) => {
    start(settings).then(
      (server) => process.send!({ port: (server.address() as AddressInfo).port }),
      (error: unknown) => {
        console.error(error)
        process.exit(1)
      }
    )
  })
  process.once("disconnect", () => process.exit(0))
}

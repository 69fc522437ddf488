/** A TCP proxy whose connections a test can cut; `target` is the port that the next one goes to, if any. */
import { connect, createServer, type AddressInfo, type Socket } from "node:net"

export const startProxy = async (target: () => number | undefined) => {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const port = target()
    if (port === undefined) return client.destroy()
    const upstream = connect(port, "127.0.0.1")
    for (const [from, to] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      sockets.add(from)
      from.on("error", () => to.destroy())
      from.on("close", () => {
        sockets.delete(from)
        to.destroy()
      })
      from.pipe(to)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const cut = () => sockets.forEach((socket) => socket.destroy())
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    stop: () => {
      cut()
      return new Promise((resolve) => server.close(resolve))
    }
  }
}

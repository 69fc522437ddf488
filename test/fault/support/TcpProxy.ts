/**
 * A go-between on a port of its own that can become a black hole: it takes what comes and passes nothing on, as a
 * network does whose other end has vanished without a word.
 */
import { Effect } from "effect"
import { connect, createServer, type Server, type Socket } from "node:net"
import type { AddressInfo } from "node:net"

export type Direction = "to the server" | "to the client"

interface Pair {
  readonly client: Socket
  readonly server: Socket
}

export class TcpProxy {
  readonly #pairs = new Set<Pair>()
  readonly #listener: Server
  /** What new connections swallow from their beginning. */
  #swallowed: ReadonlySet<Direction> = new Set()

  private constructor(listener: Server) {
    this.#listener = listener
  }

  /** Listens until the scope closes; what connects is connected to that port of this machine. */
  static readonly make = (port: number) =>
    Effect.acquireRelease(
      Effect.promise(
        () =>
          new Promise<TcpProxy>((resolve) => {
            const listener = createServer((client) => proxy.#accept(client, port))
            const proxy = new TcpProxy(listener)
            listener.listen(0, "127.0.0.1", () => resolve(proxy))
          })
      ),
      (proxy) => Effect.promise(() => proxy.#close())
    )

  get port(): number {
    return (this.#listener.address() as AddressInfo).port
  }

  get connections(): number {
    return this.#pairs.size
  }

  /** Passes nothing more on, in these directions, over the connections there are. New ones work. */
  swallow(directions: ReadonlyArray<Direction>): void {
    for (const pair of this.#pairs) this.#swallowOf(pair, new Set(directions))
  }

  /** Swallows the bytes of connections that come from now on, until it is called without directions. */
  swallowNew(directions: ReadonlyArray<Direction>): void {
    this.#swallowed = new Set(directions)
  }

  #accept(client: Socket, port: number): void {
    const server = connect(port, "127.0.0.1")
    const pair = { client, server }
    this.#pairs.add(pair)
    client.pipe(server)
    server.pipe(client)
    const end = () => {
      this.#pairs.delete(pair)
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) socket.on("error", end).on("close", end)
    this.#swallowOf(pair, this.#swallowed)
  }

  #swallowOf({ client, server }: Pair, directions: ReadonlySet<Direction>): void {
    for (const [direction, from, to] of [
      ["to the server", client, server],
      ["to the client", server, client]
    ] as const) {
      if (!directions.has(direction)) continue
      from.unpipe(to)
      from.resume()
    }
  }

  #close(): Promise<void> {
    for (const { client, server } of this.#pairs) {
      client.destroy()
      server.destroy()
    }
    return new Promise((closed) => this.#listener.close(() => closed()))
  }
}

/** Massive's stocks socket for tests: bars as fast as asked, and whatever else a test wants to send. */
import type { AddressInfo } from "node:net"
import { type WebSocket, WebSocketServer } from "ws"

export const massiveKey = "the-key"

export interface MassiveOptions {
  /**
   * Whether a key may have several connections, of which the older ones are sent bars of two seconds later than the
   * newest; otherwise a new one pushes the one before out, as Massive does.
   */
  readonly keepsOlder?: boolean
}

interface Line {
  readonly socket: WebSocket
  readonly channels: Set<string>
}

const barAt = (sym: string, s: number) => ({
  ev: "A",
  sym,
  o: 10,
  h: 12,
  l: 9,
  c: 11,
  v: 100,
  vw: 10.5,
  s,
  e: s + 1_000
})

export const startMassive = async (everyMs: number, { keepsOlder = false }: MassiveOptions = {}) => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" })
  await new Promise((resolve) => server.once("listening", resolve))
  /** Those that have shown the key and are open, the newest last. */
  let lines: ReadonlyArray<Line> = []
  let connections = 0
  const say = (socket: WebSocket, status: string) =>
    socket.send(JSON.stringify([{ ev: "status", status, message: status }]))
  const pushOut = ({ socket }: Line) => {
    say(socket, "max_connections")
    socket.close()
  }
  const authenticate = (socket: WebSocket, key: string) => {
    if (key !== massiveKey) {
      say(socket, "auth_failed")
      return socket.close()
    }
    if (!keepsOlder) {
      lines.forEach(pushOut)
      lines = []
    }
    lines = [...lines, { socket, channels: new Set() }]
    say(socket, "auth_success")
  }
  server.on("connection", (socket) => {
    connections += 1
    socket.on("error", () => {})
    socket.on("close", () => {
      lines = lines.filter((line) => line.socket !== socket)
    })
    say(socket, "connected")
    socket.on("message", (data) => {
      const { action, params } = JSON.parse(data.toString()) as { action: string; params: string }
      if (action === "auth") return authenticate(socket, params)
      const channels = lines.find((line) => line.socket === socket)?.channels
      for (const channel of params.split(",")) {
        if (action === "subscribe") channels?.add(channel)
        else channels?.delete(channel)
      }
    })
  })
  let last = 0
  const timer = setInterval(() => {
    last = Math.max(last + 1, Date.now())
    for (const line of lines) {
      const start = line === lines.at(-1) ? last : last + 2_000
      const bars = [...line.channels].map((channel) => barAt(channel.slice(2), start))
      if (bars.length > 0) line.socket.send(JSON.stringify(bars))
    }
  }, everyMs)
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/stocks`,
    /** What the newest connection is subscribed to. */
    channels: (): ReadonlySet<string> => lines.at(-1)?.channels ?? new Set(),
    /** Connections so far, and those that are open and have shown the key. */
    connections: () => connections,
    open: () => lines.length,
    sendRaw: (text: string) => lines.at(-1)?.socket.send(text),
    cut: () => lines.at(-1)?.socket.terminate(),
    stop: async () => {
      clearInterval(timer)
      for (const socket of server.clients) socket.terminate()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

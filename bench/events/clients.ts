/**
 * The clients of a benchmark of server-sent events, as a process of its own: plain connections that read what comes and
 * note how long each timed event was on its way.
 */
import { connect, type Socket } from "node:net"
import { delaysIn } from "#bench/events/delaysIn.ts"

/** Opens connections, waits for timed events, or closes all connections. */
type Order =
  | {
      readonly do: "open"
      readonly port: number
      readonly path: string
      readonly key: string
      readonly clients: number
    }
  | { readonly do: "count"; readonly expected: number }
  | { readonly do: "close" }

/** Connections that are opened at the same time. */
const concurrency = 50
const pollMillis = 20

const sockets: Array<Socket> = []
let delays: Array<number> = []
let failed = 0

const open = (port: number, path: string, key: string) =>
  new Promise<void>((resolve) => {
    const socket = connect(port, "127.0.0.1")
    let rest = ""
    let isOpen = false
    socket.setEncoding("latin1")
    socket.on("error", () => (failed += 1))
    socket.on("close", () => resolve())
    socket.on("data", (text: string) => {
      if (!isOpen) {
        isOpen = true
        if (!text.startsWith("HTTP/1.1 200")) failed += 1
        resolve()
      }
      const read = delaysIn(rest + text, performance.timeOrigin + performance.now())
      rest = read.rest
      delays.push(...read.delays)
    })
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n\r\n`)
    sockets.push(socket)
  })

const answer = async (order: Order): Promise<object> => {
  if (order.do === "open") {
    for (let opened = 0; opened < order.clients; opened += concurrency) {
      const count = Math.min(concurrency, order.clients - opened)
      await Promise.all(Array.from({ length: count }, () => open(order.port, order.path, order.key)))
    }
    return { failed }
  }
  if (order.do === "count") {
    const isDone = () => delays.length >= order.expected || failed > 0
    while (!isDone()) await new Promise((again) => setTimeout(again, pollMillis))
    const counted = { failed, delays }
    delays = []
    return counted
  }
  for (const socket of sockets.splice(0)) socket.destroy()
  failed = 0
  return { failed }
}

process.on("message", (order: Order) => void answer(order).then((answered) => process.send?.(answered)))

/**
 * The load of one wire, as a process of its own: connections that each have one call under way, for a while. An answer
 * that is none counts as failed.
 */
import { Agent, request } from "undici"
import { WebSocket } from "ws"
import { httpCall, isAnswer, message, type Read, type Wire } from "#bench/rpc/wires.ts"

interface Order {
  readonly baseUrl: string
  readonly key: string
  readonly wire: Wire
  readonly read: Read
  readonly connections: number
  readonly seconds: number
}

type Call = () => Promise<boolean>

const overHttp = (order: Order, wire: Exclude<Wire, "native WebSocket">) => {
  const dispatcher = new Agent({ connections: order.connections, pipelining: 1 })
  const { body = null, method, path } = httpCall(wire, order.read)
  const headers = { "x-api-key": order.key, ...(body === null ? {} : { "content-type": "application/json" }) }
  const call: Call = async () => {
    const answer = await request(`${order.baseUrl}${path}`, { method, headers, body, dispatcher })
    return isAnswer(wire, answer.statusCode, await answer.body.text())
  }
  return {
    calls: Array.from({ length: order.connections }, () => call),
    close: () => dispatcher.close()
  }
}

const openSocket = ({ baseUrl, key, read, wire }: Order) =>
  new Promise<{ readonly call: Call; readonly close: () => void }>((resolve, reject) => {
    const socket = new WebSocket(`${baseUrl.replace("http", "ws")}/v1/rpc`, { headers: { "x-api-key": key } })
    let id = 0
    let answered: (isAnswered: boolean) => void = () => undefined
    socket.on("message", (data: Buffer) => answered(isAnswer(wire, 200, data.toString())))
    socket.on("error", reject)
    socket.on("close", () => answered(false))
    const call: Call = () =>
      new Promise((resolve) => {
        answered = resolve
        socket.send(message(read, (id += 1)))
      })
    socket.on("open", () => resolve({ call, close: () => socket.terminate() }))
  })

const overSockets = async (order: Order) => {
  const sockets = await Promise.all(Array.from({ length: order.connections }, () => openSocket(order)))
  return { calls: sockets.map(({ call }) => call), close: () => sockets.forEach(({ close }) => close()) }
}

const answer = async (order: Order): Promise<object> => {
  const { calls, close } = order.wire === "native WebSocket" ? await overSockets(order) : overHttp(order, order.wire)
  let answered = 0
  let failed = 0
  const from = performance.now()
  const until = from + order.seconds * 1_000
  await Promise.all(
    calls.map(async (call) => {
      while (performance.now() < until && failed === 0) {
        if (await call()) answered += 1
        else failed += 1
      }
    })
  )
  const seconds = (performance.now() - from) / 1_000
  await close()
  return { answered, failed, seconds }
}

process.on(
  "message",
  (order: Order) =>
    void answer(order)
      .catch(() => ({ answered: 0, failed: 1, seconds: 1 }))
      .then((answered) => process.send?.(answered))
)

/**
 * The clients, the same for every server: plain TCP connections that walk over frames without decoding them, so that
 * the one core that is left for them suffices. Some connections read their messages, for delays and for sequences.
 */
import { connect, type Socket } from "node:net"
import { type LoadAnswer, type LoadOrder, preciseNow } from "#bench/stream/wire.ts"

/**
 * Nothing came for this long: a server that is busy with a burst may be silent for seconds before the rest of it comes.
 */
const quietMs = 20_000
const steadyLimitMs = 120_000
/** Time for which all clients are watched again after a storm. */
const watchMs = 2_000
const openConcurrency = 100

interface Address {
  readonly port: number
  readonly path: string
}

interface Reading {
  readonly reads: boolean
  /** The sequence that it goes on after. */
  readonly after?: number
}

class Client {
  readonly socket: Socket
  readonly opened: Promise<void>
  messages = 0
  last = 0
  isBroken = false
  /** Time at which the last message that it read was published, on the clock of `preciseNow`. */
  lastPublishedAt = 0
  readonly #reads: boolean
  readonly #delays: Array<number>
  #rest: Buffer = Buffer.alloc(0)
  #isOpen = false

  constructor({ port, path }: Address, delays: Array<number>, { after = 0, reads }: Reading) {
    this.#reads = reads
    this.#delays = delays
    this.last = after
    this.socket = connect(port, "127.0.0.1")
    this.socket.setNoDelay(true)
    this.socket.on("error", () => {})
    this.opened = new Promise((resolve, reject) => {
      this.socket.once("close", () => reject(new Error("A server refused a socket")))
      this.socket.on("data", (data) => this.#take(data, resolve))
    })
    this.socket.write(
      `GET ${path} HTTP/1.1\r\nHost: bench\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
  }

  send(text: string): void {
    const payload = Buffer.from(text)
    this.socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload]))
  }

  #take(data: Buffer, opened: () => void): void {
    let buffer = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data])
    if (!this.#isOpen) {
      const end = buffer.indexOf("\r\n\r\n")
      if (end < 0) return void (this.#rest = buffer)
      if (!buffer.subarray(0, 12).toString().endsWith("101")) return void this.socket.destroy()
      this.#isOpen = true
      buffer = buffer.subarray(end + 4)
      opened()
    }
    let at = 0
    while (buffer.length - at >= 2) {
      let length = buffer[at + 1]! & 0x7f
      let header = 2
      if (length === 126) {
        if (buffer.length - at < 4) break
        length = buffer.readUInt16BE(at + 2)
        header = 4
      } else if (length === 127) {
        if (buffer.length - at < 10) break
        length = Number(buffer.readBigUInt64BE(at + 2))
        header = 10
      }
      if (buffer.length - at < header + length) break
      // Text frames that are longer than what the protocols say to themselves are the messages.
      if (buffer[at] === 0x81 && length > 150) {
        this.messages += 1
        if (this.#reads) this.#read(buffer.toString("latin1", at + header, at + header + length))
      } else if (buffer[at] === 0x81 && buffer[at + header] === 0x30) {
        // Socket.IO greets, and joins who answers.
        this.send("40")
      } else if (buffer[at] === 0x81 && length === 1 && buffer[at + header] === 0x32) {
        this.send("3")
      } else if (buffer[at] === 0x89) {
        this.socket.write(Buffer.from([0x8a, 0x80, 0, 0, 0, 0]))
      }
      at += header + length
    }
    this.#rest = buffer.subarray(at)
  }

  #read(text: string): void {
    const sequence = Number(/"sequence":(\d+)/u.exec(text)?.[1])
    const previous = Number(/"previous":(\d+)/u.exec(text)?.[1])
    if (!text.includes('"type":"event"')) return
    if (this.last !== 0 && previous !== this.last) this.isBroken = true
    this.last = sequence
    this.lastPublishedAt = Number(/"priceUsd":"(\d+)/u.exec(text)?.[1]) / 1_000
    this.#delays.push(preciseNow() - this.lastPublishedAt)
  }
}

let clients: Array<Client> = []
const delays: Array<number> = []
const send = (answer: LoadAnswer) => process.send?.(answer)
const total = () => clients.reduce((sum, { messages }) => sum + messages, 0)

const openAll = async (make: (index: number) => Client, count: number) => {
  const made: Array<Client> = []
  while (made.length < count) {
    const portion = Array.from({ length: Math.min(openConcurrency, count - made.length) }, (_, index) =>
      make(made.length + index)
    )
    await Promise.all(portion.map(({ opened }) => opened))
    made.push(...portion)
  }
  return made
}

const count = async (expected: number) => {
  const before = total()
  let seen = before
  let startedAt = 0
  let lastAt = 0
  const begunAt = performance.now()
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    const now = performance.now()
    const messages = total()
    if (messages > seen) {
      if (startedAt === 0) startedAt = now
      lastAt = now
      seen = messages
    }
    if (seen - before >= expected || now - (startedAt > 0 ? lastAt : begunAt) > quietMs) break
  }
  const sorted = [...delays].sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  send({
    is: "counted",
    messages: seen - before,
    seconds: (lastAt - startedAt) / 1000,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    broken: clients.filter(({ isBroken }) => isBroken).length
  })
}

/** Every client reads here: what is missed or repeated while all come back at once shows at each of them. */
const resume = async (port: number, path: string) => {
  const brokenAt = performance.now()
  const seconds = () => (performance.now() - brokenAt) / 1000
  const positions = clients.map(({ last }) => last)
  for (const { socket } of clients) socket.destroy()
  clients = await openAll((index) => {
    const position = positions[index]!
    return new Client({ port, path: `${path}&afterSequence=${position}` }, delays, { reads: true, after: position })
  }, positions.length)
  const openSeconds = seconds()
  const openAt = preciseNow()
  while (!clients.every(({ lastPublishedAt }) => lastPublishedAt >= openAt)) {
    if (seconds() * 1000 > steadyLimitMs)
      throw new Error("Some clients never got a message that is newer than the storm")
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const steadySeconds = seconds()
  await new Promise((resolve) => setTimeout(resolve, watchMs))
  send({ is: "resumed", openSeconds, steadySeconds, broken: clients.filter(({ isBroken }) => isBroken).length })
}

process.on("message", async (order: LoadOrder) => {
  if (order.do === "open") {
    const { path, port, readEvery, sockets } = order
    clients = await openAll((index) => new Client({ port, path }, delays, { reads: index % readEvery === 0 }), sockets)
  } else if (order.do === "count") {
    delays.length = 0
    return void count(order.expected)
  } else if (order.do === "resume") {
    return void resume(order.port, order.path)
  } else {
    for (const { socket } of clients) socket.destroy()
    clients = []
  }
  send({ is: "done" })
})
process.on("disconnect", () => process.exit(0))

/** The side of a server that is the same for all: takes orders, publishes at a steady rate, reports its memory. */
import { type ServerAnswer, type ServerOrder, preciseNow } from "#bench/stream/wire.ts"

/**
 * Interval of the benchmark's clock: messages are due by elapsed time, and sent in whatever portions the timer allows.
 */
const tickMs = 5
/** Pause in which finalizers of native objects run between two collections; memory is read after the second. */
const restMs = 2_000

export interface Published {
  readonly index: number
  /** Microseconds since the epoch at which the message was handed over. */
  readonly atMicros: number
}

/** What the peers send of it: as much as an event of the worker. */
export const eventOf = ({ atMicros, index }: Published) => ({
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

/** Gives back all that V8 can, so that what stays is held. */
const collect = () => void globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" })

const send = (answer: ServerAnswer) => process.send?.(answer)

export interface Served {
  readonly port: number
  readonly path: string
  readonly publish: (messages: ReadonlyArray<Published>) => void
  readonly cut: () => void
}

export const serve = ({ cut, path, port, publish }: Served): void => {
  let index = 0
  const run = (rate: number, seconds: number) => {
    const startedAt = performance.now()
    const total = rate * seconds
    let sent = 0
    const timer = setInterval(() => {
      const due = Math.min(total, Math.floor(((performance.now() - startedAt) / 1000) * rate))
      const atMicros = Math.round(preciseNow() * 1000)
      const messages = Array.from({ length: due - sent }, () => ({ index: index++, atMicros }))
      sent = due
      if (messages.length > 0) publish(messages)
      if (sent < total) return
      clearInterval(timer)
      send({ is: "published", count: total })
    }, tickMs)
  }
  process.on("message", (order: ServerOrder) => {
    if (order.do === "publish") return run(order.rate, order.seconds)
    if (order.do === "cpu") {
      const { system, user } = process.cpuUsage()
      return send({ is: "cpu", seconds: (system + user) / 1e6 })
    }
    if (order.do === "cut") {
      cut()
      return send({ is: "cut" })
    }
    collect()
    setTimeout(() => {
      collect()
      const { heapUsed, rss } = process.memoryUsage()
      send({ is: "memory", resident: rss, heap: heapUsed })
    }, restMs)
  })
  process.on("disconnect", () => process.exit(0))
  send({ is: "ready", port, path })
}

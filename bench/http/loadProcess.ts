/** The program of the load generator: each message is an order for load, answered when it was made. */
import autocannon from "autocannon"
import { randomInt } from "node:crypto"

/** Paths that one connection asks for, in a circle. Making their requests costs time at the start of a round. */
const pathsPerConnection = 100

interface Order {
  readonly baseUrl: string
  readonly secret: string
  readonly paths: ReadonlyArray<string>
  readonly seconds: number
  readonly connections: number
  /** Looks for answers without ever waiting for them. */
  readonly isSleepless: boolean
}

const drawn = (paths: ReadonlyArray<string>): ReadonlyArray<{ readonly path: string }> =>
  Array.from({ length: Math.min(paths.length, pathsPerConnection) }, () => ({ path: paths[randomInt(paths.length)]! }))

/** Keeps the event loop turning until it is told to stop. */
const stayAwake = (): (() => void) => {
  let isAwake = true
  const turn = () => {
    if (isAwake) setImmediate(turn)
  }
  turn()
  return () => {
    isAwake = false
  }
}

const load = async ({ baseUrl, connections, isSleepless, paths, seconds, secret }: Order) => {
  const rest = isSleepless ? stayAwake() : undefined
  try {
    const result = await autocannon({
      url: baseUrl,
      connections,
      duration: seconds,
      headers: { "x-api-key": secret },
      setupClient: (client) => client.setRequests(drawn(paths))
    })
    return { answered: result["2xx"], failed: result.non2xx + result.errors, seconds: result.duration }
  } finally {
    rest?.()
  }
}

process.on("message", (order: Order) => {
  load(order).then(
    (loaded) => process.send!(loaded),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    }
  )
})
process.once("disconnect", () => process.exit(0))

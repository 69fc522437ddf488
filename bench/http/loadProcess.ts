/** The program of the load generator: each message is an order for load, answered when it was made. */
import autocannon from "autocannon"
import { drawPaths } from "#bench/http/drawPaths.ts"

interface Order {
  readonly baseUrl: string
  readonly secret: string
  readonly routes: ReadonlyArray<ReadonlyArray<string>>
  readonly seconds: number
  readonly connections: number
}

const load = async ({ baseUrl, connections, routes, seconds, secret }: Order) => {
  const result = await autocannon({
    url: baseUrl,
    connections,
    duration: seconds,
    headers: { "x-api-key": secret },
    setupClient: (client) => client.setRequests(drawPaths(routes).map((path) => ({ path })))
  })
  return { answered: result["2xx"], failed: result.non2xx + result.errors, seconds: result.duration }
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

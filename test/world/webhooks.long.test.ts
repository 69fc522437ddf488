/** A rebalance in a local world, sent to an integrator's server: signed, complete and in order. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { Webhook } from "standardwebhooks"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { createStrategy, enroll, finishedOperation, fund, newOwner, rebalance } from "#test/support/journey.ts"
import { eventually, startWorld, type World, worldFolder } from "#test/support/World.ts"

interface Received {
  readonly headers: Record<string, string>
  readonly body: string
}

let world: World
let folder: Awaited<ReturnType<typeof worldFolder>>
let server: Server
let url: string
const received: Array<Received> = []

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    received.push({ headers: request.headers as Record<string, string>, body: Buffer.concat(chunks).toString("utf8") })
    response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  folder = await worldFolder()
  world = await startWorld(folder.dataDir)
})

afterAll(async () => {
  await world?.stop()
  await folder?.remove()
  server?.closeAllConnections()
  await new Promise((resolve) => server?.close(resolve))
})

const typed = (type: string, operationId: string) =>
  received
    .map(({ body }) => JSON.parse(body))
    .filter((event) => event.type === type && event.operationId === operationId)

describe("webhooks of a local world", () => {
  it("a rebalance arrives signed, with the same events as in the log", async () => {
    const made = await world.api("POST", "/v2/webhooks", { url })
    assert.strictEqual(made.status, 201, JSON.stringify(made.body))
    const { secret, webhookId } = made.body.data
    const portfolio = await enroll(world, { strategyId: await createStrategy(world), owner: newOwner() })
    await fund(world, portfolio.accounts, 10_000n)
    const operationId = await rebalance(world, portfolio.portfolioId)
    await finishedOperation(world, portfolio.portfolioId, operationId)
    const messages = await eventually("the end of the run is sent", async () => {
      const states = typed("operation.state_changed", operationId)
      return states.at(-1)?.data.state === "completed" ? states : undefined
    })
    assert.deepStrictEqual(
      messages.map(({ data }) => data.state),
      ["accepted", "running", "completed"]
    )
    assert.strictEqual(messages.at(-1)?.data.outcome, "traded")
    for (const { body, headers } of received) new Webhook(secret).verify(body, headers)

    const log = await world.api("GET", "/v2/events?limit=200")
    const sent = new Map(received.map(({ body }) => [JSON.parse(body).eventId, JSON.parse(body)]))
    const since = log.body.data.events.findIndex(({ eventId }: { eventId: string }) => sent.has(eventId))
    assert.isAtLeast(since, 0)
    const logged = log.body.data.events.slice(since, since + sent.size)
    assert.deepStrictEqual(logged, [...sent.values()])

    const deliveries = await world.api("GET", `/v2/webhooks/${webhookId}/deliveries?limit=200`)
    const states = deliveries.body.data.deliveries.map(({ state }: { state: string }) => state)
    assert.include(states, "delivered")
    assert.notInclude(world.serviceLog(), secret, "a secret is never logged")
  })

  it("changes of a schedule arrive, and a test", async () => {
    const listed = await world.api("GET", "/v2/portfolios")
    const { portfolioId } = listed.body.data.portfolios[0]
    await world.api("POST", `/v2/portfolios/${portfolioId}/stop`)
    await world.api("POST", `/v2/portfolios/${portfolioId}/start`)
    const [webhook] = (await world.api("GET", "/v2/webhooks")).body.data.webhooks
    await world.api("POST", `/v2/webhooks/${webhook.webhookId}/test`)
    const types = await eventually("the changes are sent", async () => {
      const all = received.map(({ body }) => JSON.parse(body).type as string)
      return all.includes("webhook.test") && all.includes("portfolio.started") ? all : undefined
    })
    assert.include(types, "portfolio.paused")
  })
})

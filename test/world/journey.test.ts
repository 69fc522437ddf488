/**
 * The main job on a local world: enroll by signature, fund, rebalance on chain, read positions, be rebalanced on
 * schedule.
 */
import { randomBytes } from "node:crypto"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  atRest,
  chainIds,
  createStrategy,
  type EnrolledPortfolio,
  enroll,
  finishedOperation,
  fund,
  newOwner,
  rebalance,
  wethShare
} from "#test/support/journey.ts"
import { type Collector, startCollector } from "#test/support/Collector.ts"
import { eventually, startWorld, type World, worldFolder } from "#test/support/World.ts"

let collector: Collector
let world: World
let folder: Awaited<ReturnType<typeof worldFolder>>
let strategyId: string
let portfolio: EnrolledPortfolio
const owner = newOwner()

beforeAll(async () => {
  folder = await worldFolder()
  collector = await startCollector()
  world = await startWorld(folder.dataDir, {
    REBALANCE_COOLDOWN_SECONDS: "5",
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint
  })
  strategyId = await createStrategy(world)
})

afterAll(async () => {
  await world?.stop()
  collector?.stop()
  await folder?.remove()
})

const detail = async () => (await world.api("GET", `/v2/portfolios/${portfolio.portfolioId}`)).body.data

describe("one user's life", () => {
  it("enrolls on two chains with one signature and one address", async () => {
    portfolio = await enroll(world, { strategyId, owner })
    assert.lengthOf(portfolio.accounts, 2)
    assert.deepStrictEqual(
      portfolio.accounts.map((id) => Number(id.split(":")[1])),
      chainIds
    )
    assert.strictEqual(portfolio.accounts[0]!.split(":")[2], portfolio.accounts[1]!.split(":")[2])
  })

  it("replays stage 2, refuses another body and a second portfolio", async () => {
    const replay = await world.api("POST", "/v2/enroll", portfolio.request)
    assert.strictEqual(replay.status, 201)
    assert.strictEqual(replay.body.data.portfolioId, portfolio.portfolioId)
    const changed = await world.api("POST", "/v2/enroll", { ...portfolio.request, portfolioName: "Other" })
    assert.deepStrictEqual([changed.status, changed.body.error.code], [409, "API_008"])
    const again = await enroll(world, { strategyId, owner }).catch((error: Error) => error.message)
    assert.include(String(again), "API_202")
  })

  it("gives the owner's next portfolio another address", async () => {
    const second = await enroll(world, { strategyId: await createStrategy(world), owner })
    assert.notStrictEqual(second.accounts[0], portfolio.accounts[0])
  })

  it("rebalances real balances onto the target on both chains", async () => {
    await fund(world, portfolio.accounts, 10_000n)
    const operationId = await rebalance(world, portfolio.portfolioId)
    const operation = await finishedOperation(world, portfolio.portfolioId, operationId)
    assert.strictEqual(operation.state, "completed", JSON.stringify(operation))
    for (const account of portfolio.accounts) assert.closeTo(await wethShare(world, account), 0.6, 0.01)
  })

  it("shows positions that agree with the chain", async () => {
    const { status, body } = await world.api("GET", `/v2/portfolios/${portfolio.portfolioId}/positions`)
    assert.strictEqual(status, 200)
    assert.isEmpty(body.data.warnings)
    assert.lengthOf(body.data.assets, 4)
    assert.closeTo(Number(body.data.totalValueUsd), 20_000, 200)
    assert.match(body.data.totalValueUsd, /^\d+\.\d{6}$/)
  })

  it("answers the cooldown with the seconds to wait", async () => {
    const soon = await world.api("POST", `/v2/portfolios/${portfolio.portfolioId}/rebalance`)
    if (soon.status === 202) return assert.isString(soon.body.data.operationId)
    assert.deepStrictEqual([soon.status, soon.body.error.code], [429, "API_004"])
    assert.isAtLeast(Number(soon.headers.get("retry-after")), 1)
  })

  it("follows the market by itself on schedule", async () => {
    await atRest(world, portfolio.portfolioId)
    for (const chainId of chainIds)
      await world.control("/prices", { assetId: world.asset(chainId, "WETH").assetId, priceUsd: "3000" })
    const before = (await detail()).schedule
    await world.control("/clock/advance", { ms: 86_400_000 })
    const after = await eventually("the scheduled rebalance", async () => {
      const { schedule } = await detail()
      const shares = await Promise.all(portfolio.accounts.map((account) => wethShare(world, account, 3000)))
      const isOnTarget = shares.every((share) => Math.abs(share - 0.6) <= 0.01)
      return isOnTarget && schedule.lastRebalanceAt !== before.lastRebalanceAt ? schedule : undefined
    })
    assert.isAbove(Date.parse(after.nextDueAt), Date.parse(before.nextDueAt))
  })

  it("stays still while paused and is prompt after start", async () => {
    const stopped = await world.api("POST", `/v2/portfolios/${portfolio.portfolioId}/stop`)
    assert.strictEqual(stopped.body.data.schedule.status, "paused")
    const { lastRebalanceAt } = stopped.body.data.schedule
    await world.control("/clock/advance", { ms: 3 * 86_400_000 })
    assert.strictEqual((await detail()).schedule.lastRebalanceAt, lastRebalanceAt)
    const started = await world.api("POST", `/v2/portfolios/${portfolio.portfolioId}/start`)
    assert.strictEqual(started.body.data.schedule.status, "active")
    await eventually("the rebalance after start", async () =>
      (await detail()).schedule.lastRebalanceAt !== lastRebalanceAt ? true : undefined
    )
  })
})

describe("when the world misbehaves", () => {
  it("positions keep what loaded and name what did not", async () => {
    await world.control("/faults", { target: "rpc:42161", mode: "down" })
    await world.control("/clock/advance", { ms: 60_000 })
    const { status, body } = await world.api("GET", `/v2/portfolios/${portfolio.portfolioId}/positions`)
    await world.control("/faults", { target: "rpc:42161", mode: "ok" })
    assert.strictEqual(status, 200)
    assert.lengthOf(body.data.assets, 2)
    assert.include(
      body.data.warnings.map(({ kind }: { kind: string }) => kind),
      "RPC_ERROR"
    )
  })

  it("positions are empty with 200 when every chain is down", async () => {
    for (const chainId of chainIds) await world.control("/faults", { target: `rpc:${chainId}`, mode: "error" })
    await world.control("/clock/advance", { ms: 60_000 })
    const { status, body } = await world.api("GET", `/v2/portfolios/${portfolio.portfolioId}/positions`)
    for (const chainId of chainIds) await world.control("/faults", { target: `rpc:${chainId}`, mode: "ok" })
    assert.strictEqual(status, 200)
    assert.strictEqual(body.data.totalValueUsd, "0")
    assert.isEmpty(body.data.assets)
    assert.lengthOf(body.data.warnings, 2)
  })
})

describe("what observers see", () => {
  const positionsTraced = async (): Promise<string> => {
    const traceId = randomBytes(16).toString("hex")
    const traceparent = `00-${traceId}-b7ad6b7169203331-01`
    const path = `/v2/portfolios/${portfolio.portfolioId}/positions`
    const answer = await world.apiWith({ traceparent })("GET", path)
    assert.strictEqual(answer.headers.get("x-correlation-id"), traceId)
    return traceId
  }

  const isWhole = (traceId: string): boolean => {
    const names = collector.spans().flatMap((span) => (span.traceId === traceId ? [span.name] : []))
    return (
      ["GET /v2/portfolios/{portfolioId}/positions", "PositionReader.read"].every((name) => names.includes(name)) &&
      ["SELECT ", "evm."].every((beginning) => names.some((name) => name.startsWith(beginning)))
    )
  }

  it("one trace from the request through the service to SQL and to the chains, under the caller's trace id", async () => {
    const traceIds: Array<string> = []
    // A request that reads along with another one, a monitor's for example, leaves the chains to the other's trace.
    await eventually("the collector has a whole trace", async () => {
      await world.control("/clock/advance", { ms: 60_000 })
      traceIds.push(await positionsTraced())
      return traceIds.find(isWhole)
    })
  })

  it("the service's metrics arrive", () =>
    eventually("all metrics have arrived", async () => {
      const names = collector.metricNames()
      const expected = [
        "http.server.request.duration",
        "db.client.operation.duration",
        "db.client.connection.wait_time",
        "nodejs.eventloop.delay.p99",
        "ballast_rebalance_runs",
        "ballast_rebalance_legs",
        "rpc.client.call.duration",
        "ballast_scheduler_oldest_due_age"
      ]
      return expected.every((name) => names.has(name)) ? true : undefined
    }))

  it("no key and no token is in logs, traces or metrics", () => {
    const exported = collector.raw() + world.serviceLog()
    assert.isAbove(exported.length, 10_000)
    const { tenants, adminToken } = world.overview
    for (const secret of [adminToken, ...tenants.flatMap(({ apiKey, readOnlyApiKey }) => [apiKey, readOnlyApiKey])]) {
      assert.notInclude(exported, secret)
    }
  })
})

/**
 * Connections to PostgreSQL that swallow everything from one moment on, while new ones work: as a router leaves behind
 * that has lost what it knew of them. Rebalances that are asked for right then all go on over new ones.
 */
import { assert, describe, it } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { DateTime, Effect, Layer, Redacted, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { makeOperationId } from "#domain/values/Ids.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { EngineLive } from "#layers/engine/EngineLive.ts"
import * as Database from "#layers/sql/Database.ts"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import { SqlLive } from "#layers/sql/SqlLive.ts"
import { TcpProxy } from "#test/fault/support/TcpProxy.ts"
import { arbUsdc, baseUsdc } from "#test/support/assets.ts"
import { TestChain, TestChains } from "#test/support/chains/TestChains.ts"
import { newServerDatabase } from "#test/support/database.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { TestSettings } from "#test/support/settings.ts"
import { finished } from "#test/support/TestBallast.ts"

const poolSize = 10
const rebalances = 12

/** The engine as a deployment has it, with its own bounds, over the go-between. */
const worldBehind = (url: string, { port }: TcpProxy) => {
  const proxied = new URL(url)
  proxied.hostname = "127.0.0.1"
  proxied.port = `${port}`
  const config = { url: Redacted.make(proxied.href), dataDir: "", maxConnections: poolSize }
  return EngineLive.pipe(
    Layer.provideMerge(Layer.merge(TestChains, TestSettings)),
    Layer.provideMerge(SqlLive),
    Layer.provideMerge(Database.layer),
    Layer.provide(Layer.succeed(DatabaseConfig, config)),
    Layer.provideMerge(Layer.merge(NodeCrypto.layer, SecureRandom.layerWebCrypto))
  )
}

const funded = Effect.gen(function* () {
  const portfolio = yield* enrolledPortfolio
  const market = yield* TestChain
  market.fund(portfolio.accounts[0], baseUsdc.assetId, 10_000_000_000n)
  market.fund(portfolio.accounts[1], arbUsdc.assetId, 10_000_000_000n)
  return portfolio
})

type Portfolio = Effect.Success<typeof funded>

/** Asks for a rebalance as a client does, and asks again as long as the answer is that the database is away. */
const rebalanced = Effect.fnUntraced(function* ({ portfolioId, tenantId }: Portfolio) {
  const operationId = yield* makeOperationId
  const store = yield* OperationStore
  const { launch } = yield* OperationLauncher
  const ask = Effect.gen(function* () {
    yield* store.submitManual({ operationId, tenantId, portfolioId, now: yield* DateTime.now, cooldownMs: 0 })
    yield* launch({ operationId, kind: "rebalance" })
  })
  yield* Effect.retry(Effect.sandbox(ask), Schedule.spaced("200 millis"))
  return yield* Effect.retry(
    Effect.sandbox(finished({ operationId, portfolioId, tenantId })),
    Schedule.spaced("200 millis")
  )
})

describe("connections of the pool that swallow everything", () => {
  if (newServerDatabase === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const newDatabase = newServerDatabase

  it.live("hold up no rebalance: all that are asked for then end, over new ones", () =>
    Effect.gen(function* () {
      const url = yield* newDatabase
      const proxy = yield* TcpProxy.make(Number(new URL(url).port || 5432))
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const portfolios = yield* Effect.forEach(Array.from({ length: rebalances }), () => funded)
        const atOnce = Array.from({ length: poolSize }, () => sql`SELECT pg_sleep(0.5)`)
        yield* Effect.all(atOnce, { concurrency: "unbounded", discard: true })
        assert.isAtLeast(proxy.connections, poolSize)
        // They never come to: what waits for one of them waits until the connection is given up.
        proxy.swallow(["to the server", "to the client"])
        const ended = yield* Effect.forEach(portfolios, rebalanced, { concurrency: "unbounded" })
        assert.deepStrictEqual(
          ended.map(({ outcome, state }) => ({ outcome, state })),
          Array.from({ length: rebalances }, () => ({ outcome: "traded" as const, state: "completed" as const }))
        )
        assert.deepStrictEqual(yield* sql`SELECT count(*)::int AS count FROM operations`, [{ count: rebalances }])
      }).pipe(Effect.provide(worldBehind(url, proxy)))
    }).pipe(Effect.scoped)
  )
})

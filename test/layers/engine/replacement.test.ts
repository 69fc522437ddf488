/** Transactions that do not land, over embedded PostgreSQL and a market in memory that holds them back. */
import { assert, layer } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { Duration, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { receiptWaits } from "#domain/operation/waits.ts"
import { EngineLive } from "#layers/engine/EngineLive.ts"
import { acceptWithdrawal, history, messageOf, reached } from "#test/support/acceptedWithdrawal.ts"
import { baseUsdc } from "#test/support/assets.ts"
import { TestStores } from "#test/support/database.ts"
import { enrolledPortfolio } from "#test/support/enrolledPortfolio.ts"
import { TestSettings } from "#test/support/settings.ts"
import { TestChain, TestChains } from "#test/support/chains/TestChains.ts"
import { RelayTiming } from "#domain/relay/RelayTiming.ts"
import { patience } from "#test/support/suite/patience.ts"

const timing = { searchFor: Duration.millis(50), searchInterval: Duration.millis(10), holdFor: Duration.minutes(5) }

const Engine = EngineLive.pipe(
  Layer.provide(Layer.succeed(RelayTiming, timing)),
  Layer.provideMerge(TestChains),
  Layer.provideMerge(TestSettings),
  Layer.provideMerge(TestStores),
  Layer.provideMerge(NodeCrypto.layer)
)

/** Starts a withdrawal of 200 dollars of 500. */
const start = Effect.gen(function* () {
  const portfolio = yield* enrolledPortfolio
  const market = yield* TestChain
  const account = portfolio.accounts[0]
  market.fund(account, baseUsdc.assetId, 500_000_000n)
  const message = yield* messageOf(portfolio, account, { assets: [[baseUsdc.assetId, 200_000_000n]] })
  const operationId = yield* acceptWithdrawal(portfolio, { accountId: account, message })
  yield* (yield* OperationLauncher).launch({ operationId, kind: "withdraw" })
  return { account, market, operationId, portfolio }
})

const storedHashes = Effect.fnUntraced(function* (operationId: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly hash: string }>`
    WITH including AS (
      SELECT t.* FROM relayed_transactions t JOIN relayed_actions a USING (chain_id, relayer, nonce)
      WHERE a.operation_id = ${operationId}
    )
    SELECT tx_hash AS hash FROM including
    UNION ALL (SELECT r.tx_hash FROM relayed_replacements r JOIN including USING (chain_id, relayer, nonce)
      ORDER BY r.replacement)`
  return rows.map(({ hash }) => hash)
})

layer(Engine, { excludeTestServices: true })("a transaction that does not land", (it) => {
  it.effect("is replaced until it does, every replacement stored before it is sent, and acts once", () =>
    Effect.gen(function* () {
      const market = yield* TestChain
      market.minReplacements = 3
      const { account, operationId, portfolio } = yield* start
      const operation = yield* reached(portfolio, operationId)
      assert.strictEqual(operation.state, "completed", operation.error ?? "")
      assert.strictEqual(market.balance(account, baseUsdc.assetId), 300_000_000n)
      const stored = yield* storedHashes(operationId)
      assert.strictEqual(stored.length, 4)
      assert.deepStrictEqual([...new Set(market.broadcasts)], stored)
      const events = yield* history(operationId)
      assert.includeMembers(events, ["retrying", "withdrawn", "completed"])
      assert.strictEqual(market.included.size, 1)
    })
  )

  it.effect("waits in retrying when no higher fee may be paid, and is never given up", () =>
    Effect.gen(function* () {
      const market = yield* TestChain
      market.usedNonces = 1
      market.minReplacements = 2
      market.maxReplacements = 1
      const { account, operationId, portfolio } = yield* start
      yield* storedHashes(operationId).pipe(
        Effect.filterOrFail((stored) => stored.length === 2),
        Effect.retry(Schedule.spaced("20 millis")),
        Effect.timeout(patience)
      )
      const sent = market.broadcasts.length
      yield* Effect.sync(() => market.broadcasts.length).pipe(
        Effect.filterOrFail((now) => now > sent + 3),
        Effect.retry(Schedule.spaced("20 millis")),
        Effect.timeout(patience)
      )
      assert.strictEqual((yield* storedHashes(operationId)).length, 2)
      const states = (yield* history(operationId)).filter((kind) => kind !== receiptWaits)
      assert.strictEqual(states.at(-1), "retrying")
      assert.strictEqual(market.balance(account, baseUsdc.assetId), 500_000_000n)
      market.minReplacements = 0
      assert.strictEqual((yield* reached(portfolio, operationId)).state, "completed")
      assert.strictEqual(market.balance(account, baseUsdc.assetId), 300_000_000n)
    })
  )

  it.effect("is not made while the key gives no signature, and is made once it does", () =>
    Effect.gen(function* () {
      const market = yield* TestChain
      market.signs = false
      const { account, operationId, portfolio } = yield* start
      yield* history(operationId).pipe(
        Effect.filterOrFail((events) => events.at(-1) === "retrying"),
        Effect.retry(Schedule.spaced("20 millis")),
        Effect.timeout(patience)
      )
      assert.deepStrictEqual(yield* storedHashes(operationId), [])
      market.signs = true
      assert.strictEqual((yield* reached(portfolio, operationId)).state, "completed")
      assert.strictEqual((yield* storedHashes(operationId)).length, 1)
      assert.strictEqual(market.balance(account, baseUsdc.assetId), 300_000_000n)
    })
  )
})

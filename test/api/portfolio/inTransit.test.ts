/**
 * Positions while value is between two chains, and what they say when that cannot be read. Source: interface
 * "Positions".
 */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { addressOf, type EvmAccountId } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { TransferLedger } from "#domain/transfer/TransferLedger.ts"
import { enrolledUser } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { TestEnvironment } from "#test/api/support/TestEnvironment.ts"
import { arbUsdc, baseUsdc } from "#test/support/assets.ts"
import { MovableClock } from "#test/support/MovableClock.ts"

const actionHash = `0x${"5b".repeat(32)}`
const txHash = `0x${"7a".repeat(32)}`

/** A portfolio with 60 dollars on Base, whose run recorded the intent to send 40 more. */
const withIntent = Effect.gen(function* () {
  const { call } = yield* Api
  const environment = yield* TestEnvironment
  const { key, portfolioId, smartAccounts } = yield* enrolledUser()
  const accountId = smartAccounts.find((id) => id.startsWith("eip155:8453:"))! as EvmAccountId
  environment.balances = new Map([[`${accountId} ${baseUsdc.assetId}`, 60_000_000n]])
  environment.prices = new Map([[baseUsdc.assetId, Decimal.one]])
  environment.included = new Map()
  environment.receiptsUnreadable = false
  const submitted = yield* call("POST", `/v2/portfolios/${portfolioId}/rebalance`, { key })
  const ledger = yield* TransferLedger
  const intent = {
    runId: submitted.json.data.operationId as OperationId,
    attempt: 1,
    accountId,
    at: yield* DateTime.now,
    transfers: [
      {
        sell: baseUsdc.assetId,
        buy: arbUsdc.assetId,
        amountRaw: 40_000_000n,
        minRaw: 39_000_000n,
        expectedRaw: 39_960_000n,
        bridgeAddress: addressOf(accountId),
        tool: "vault"
      }
    ]
  }
  yield* ledger.recordIntent({ ...intent, actionHash, fromBlock: 1n })
  /** Read anew: what the reader keeps belongs to the state before. */
  const read = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE portfolios SET updated_at = updated_at + interval '1 millisecond'
      WHERE portfolio_id = ${portfolioId}`
    const answer = yield* call("GET", `/v2/portfolios/${portfolioId}/positions`, { key })
    assert.strictEqual(answer.status, 200, answer.text)
    const { inTransit, totalValueUsd, warnings } = answer.json.data
    return {
      totalValueUsd,
      inTransit: inTransit.totalUsd,
      warnings: warnings.map(({ kind }: { readonly kind: string }) => kind)
    }
  })
  return { intent, ledger, read, environment, key, portfolioId }
})

const whole = { totalValueUsd: "100.000000", inTransit: "40.000000", warnings: [] }
const rest = { totalValueUsd: "60.000000", inTransit: "0.000000", warnings: [] }
const lacking = { ...rest, warnings: ["IN_TRANSIT_READ_FAILED"] }

/** Makes a table unreadable for as long as an effect lasts. */
const without = (table: "transfers" | "transfer_intents") =>
  Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`ALTER TABLE ${sql(table)} RENAME TO hidden`
    return yield* Effect.ensuring(effect, Effect.orDie(sql`ALTER TABLE hidden RENAME TO ${sql(table)}`))
  })

layer(ApiLive, { excludeTestServices: true })("positions with value between two chains", (it) => {
  it.effect("count what left, from its block on and as an entry of the ledger", () =>
    Effect.gen(function* () {
      const { intent, ledger, read, environment } = yield* withIntent
      assert.deepStrictEqual(yield* read, rest)
      environment.included = new Map([[actionHash, { blockNumber: 1n, txHash }]])
      assert.deepStrictEqual(yield* read, whole)
      yield* ledger.open({ ...intent, txHash })
      assert.deepStrictEqual(yield* read, whole)
    })
  )

  it.effect("that has not arrived after an hour are named in the portfolio's attention", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { intent, ledger, key, portfolioId } = yield* withIntent
      const attention = Effect.map(call("GET", `/v2/portfolios/${portfolioId}`, { key }), ({ json }) =>
        json.data.attention.filter(({ code }: { readonly code: string }) => code === "transfer_unclear")
      )
      yield* ledger.open({ ...intent, at: DateTime.subtract(intent.at, { minutes: 59 }), txHash })
      assert.deepStrictEqual(yield* attention, [])
      ;(yield* MovableClock).advance(120_000)
      const [late, ...others] = yield* attention
      assert.deepStrictEqual([late.actor, others], ["operator", []])
      assert.match(late.action, /^A transfer between chains that left at .* has not arrived/u)
    })
  )

  it.effect("say so when the ledger cannot be read, and show what is known", () =>
    Effect.gen(function* () {
      const { intent, ledger, read } = yield* withIntent
      yield* ledger.open({ ...intent, txHash })
      assert.deepStrictEqual(yield* without("transfers")(read), lacking)
      assert.deepStrictEqual(yield* without("transfer_intents")(read), lacking)
      assert.deepStrictEqual(yield* read, whole)
    })
  )

  it.effect("say so when no chain answers whether a recorded intent has left", () =>
    Effect.gen(function* () {
      const { read, environment } = yield* withIntent
      environment.included = new Map([[actionHash, { blockNumber: 1n, txHash }]])
      environment.receiptsUnreadable = true
      assert.deepStrictEqual(yield* read, lacking)
      environment.receiptsUnreadable = false
      assert.deepStrictEqual(yield* read, whole)
    })
  )
})

/**
 * Whether a page of operations costs the same at any depth: a million operations of one tenant, of all of them and by
 * each filter, the first page against one at 90 percent. And how long an event takes to those who follow its operation.
 *
 * Needs a PostgreSQL server (`BENCH_DATABASE_URL`), on which it makes a database of its own and drops it afterwards.
 */
import { Console, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { benchDatabase, databaseLayer } from "#bench/http/benchDatabase.ts"
import { spreadOf, spreadOfRatios } from "#bench/http/spread.ts"
import { fillOperations, operationCount, portfolioId, tenantId } from "#bench/operations/fillOperations.ts"
import { measureFromCommit } from "#bench/operations/fromCommit.ts"
import { limit } from "#bench/lists/lists.ts"
import { measureList, rounds } from "#bench/lists/measureList.ts"
import { runUntilSignal } from "#bench/runUntilSignal.ts"
import { type OperationFilter, OperationStore } from "#domain/operation/OperationStore.ts"
import * as OperationStoreLive from "#layers/sql/operation/OperationStore.ts"

const depth = 0.9
const depthTarget = 1.2

const listOf = Effect.fnUntraced(function* (name: string, filter: OperationFilter, where: string) {
  const store = yield* OperationStore
  const sql = yield* SqlClient.SqlClient
  const from = `operations WHERE tenant_id = '${tenantId}' AND ${where}`
  const [row] = yield* sql.unsafe<{ readonly at: Date; readonly id: string }>(`
    SELECT submitted_at AS at, operation_id AS id FROM ${from} ORDER BY submitted_at DESC, operation_id DESC
    OFFSET (SELECT floor(count(*) * ${depth}) FROM ${from}) LIMIT 1`)
  const after = { createdAt: DateTime.makeUnsafe(row!.at), id: row!.id }
  return {
    name,
    first: store.list(tenantId, filter, { limit, after: null }),
    deep: store.list(tenantId, filter, { limit, after })
  }
})

const measure = Effect.gen(function* () {
  yield* fillOperations
  yield* Console.log(
    `Operations, pages of ${limit}, median milliseconds of ${rounds} rounds; ${operationCount.toLocaleString("en-US")} operations`
  )
  const lists = yield* Effect.all([
    listOf("all", {}, "true"),
    listOf("of a portfolio", { portfolioId }, `portfolio_id = '${portfolioId}'`),
    listOf("withdrawals", { kind: "withdraw" }, "kind = 'withdraw'"),
    listOf("failed", { state: "failed" }, "state = 'failed'")
  ])
  for (const list of lists) {
    const { deep, first, name } = yield* measureList(list)
    const ratio = spreadOfRatios(deep, first).median
    yield* Console.log(
      `  ${name.padEnd(20)} first ${spreadOf(first).median.toFixed(3)}  deep ${spreadOf(deep).median.toFixed(3)}  ratio ${ratio.toFixed(2)}${ratio > depthTarget ? "  missed" : ""}`
    )
  }
  yield* Console.log(`  Target: a median ratio of at most ${depthTarget.toFixed(2)}`)
})

const program = Effect.gen(function* () {
  yield* measureFromCommit
  const database = yield* benchDatabase
  yield* Effect.provide(measure, OperationStoreLive.layer.pipe(Layer.provideMerge(databaseLayer(database))))
})

export const run = (): Promise<void> => runUntilSignal(program)

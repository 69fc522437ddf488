/** The operator's routes for suspended runs. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { NotFound, OperationNotCancellable, ValidationFailed } from "#domain/errors/Errors.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { enrolledUser } from "#test/api/support/actors.ts"
import { adminToken, Api, ApiLive } from "#test/api/support/Api.ts"
import { assertError } from "#test/api/support/assertions.ts"

const admin = (method: string, path: string) =>
  Effect.flatMap(Api, ({ call }) =>
    call(method, `/v1/admin${path}`, { headers: { authorization: `Bearer ${adminToken}` } })
  )

let requestId = 0

/** A rebalance whose run was suspended at a minute of an hour. */
const suspended = Effect.fnUntraced(function* (minute: number) {
  const { call } = yield* Api
  const sql = yield* SqlClient.SqlClient
  const { key, portfolioId } = yield* enrolledUser()
  const submitted = yield* call("POST", `/v2/portfolios/${portfolioId}/rebalance`, { key })
  const operationId = submitted.json.data.operationId as OperationId
  requestId += 1
  const executionId = `run${requestId}`
  const at = DateTime.toDateUtc(DateTime.makeUnsafe(Date.UTC(2026, 2, 1, 12, minute)))
  yield* sql`
    INSERT INTO workflow_messages (request_id, key, shard, entity_type, entity_id, tag, version, envelope,
      created_at, wake_at, tries, suspended_at, cause)
    VALUES (${requestId}, ${executionId}, 'default:1', 'Workflow/Rebalance', ${executionId}, 'run', 1,
      ${JSON.stringify({ payload: { operationId } })}, ${at}, ${at}, 10, ${at}, 'Error: a fault of ours')`
  const run = {
    executionId,
    workflow: "Rebalance",
    operationId,
    suspendedAt: at.toISOString(),
    cause: "Error: a fault of ours",
    tries: 10,
    steps: 0
  }
  return { operationId, run }
})

const isSuspended = (operationId: OperationId) =>
  Effect.map(admin("GET", `/runs/${operationId}`), ({ status }) => status === 200)

layer(ApiLive, { excludeTestServices: true })("admin runs", (it) => {
  it.effect("those that stand longest are listed first, and each is shown by its operation or by its own id", () =>
    Effect.gen(function* () {
      const later = yield* suspended(30)
      const earlier = yield* suspended(10)
      const { data } = (yield* admin("GET", "/runs")).json
      assert.deepStrictEqual(data.runs, [earlier.run, later.run])
      for (const id of [later.operationId, later.run.executionId])
        assert.deepStrictEqual((yield* admin("GET", `/runs/${id}`)).json.data, later.run)
    })
  )

  it.effect("one is resumed once", () =>
    Effect.gen(function* () {
      const { operationId } = yield* suspended(1)
      const resumed = yield* admin("POST", `/runs/${operationId}/resume`)
      assert.deepStrictEqual(resumed.json.data, { id: operationId, resumed: true })
      assert.isFalse(yield* isSuspended(operationId))
      assert.isFalse(yield* Effect.flatMap(OperationStore, (store) => store.isCancelRequested(operationId)))
      assertError(yield* admin("POST", `/runs/${operationId}/resume`), NotFound)
    })
  )

  it.effect("one is cancelled: it goes on, and its operation is to be cancelled", () =>
    Effect.gen(function* () {
      const { operationId } = yield* suspended(2)
      const cancelled = yield* admin("POST", `/runs/${operationId}/cancel`)
      assert.deepStrictEqual(cancelled.json.data, { id: operationId, cancelled: true })
      assert.isFalse(yield* isSuspended(operationId))
      assert.isTrue(yield* Effect.flatMap(OperationStore, (store) => store.isCancelRequested(operationId)))
      assertError(yield* admin("POST", `/runs/${operationId}/cancel`), NotFound)
    })
  )

  it.effect("one that watches a transfer is not cancelled, and stays as it is", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { operationId } = yield* suspended(3)
      yield* sql`UPDATE operations SET kind = 'bridge' WHERE operation_id = ${operationId}`
      assertError(yield* admin("POST", `/runs/${operationId}/cancel`), OperationNotCancellable)
      assert.isTrue(yield* isSuspended(operationId))
    })
  )

  it.effect("an id that names none is not found, and one that could name none is refused", () =>
    Effect.gen(function* () {
      for (const [method, path] of [
        ["GET", "/runs/op_01JQ8ZKX4V6T3M9N2C5B7D8F0G"],
        ["POST", "/runs/op_01JQ8ZKX4V6T3M9N2C5B7D8F0G/resume"],
        ["POST", "/runs/op_01JQ8ZKX4V6T3M9N2C5B7D8F0G/cancel"]
      ] as const) {
        assertError(yield* admin(method, path), NotFound)
        assertError(yield* admin(method, path.replace("op_", "op-")), ValidationFailed)
      }
    })
  )
})

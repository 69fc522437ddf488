import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { NotFound, OperationNotCancellable } from "#domain/errors/Errors.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { enrolledUser, newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertError } from "#test/api/support/assertions.ts"
import { TestEnvironment } from "#test/api/support/TestEnvironment.ts"

/** An enrolled user whose portfolio has a manual run. */
const running = Effect.gen(function* () {
  const { call } = yield* Api
  const user = yield* enrolledUser()
  const submitted = yield* call("POST", `/v2/portfolios/${user.portfolioId}/rebalance`, { key: user.key })
  const operationId = submitted.json.data.operationId as OperationId
  const path = `/v2/portfolios/${user.portfolioId}/operations/${operationId}`
  return { ...user, operationId, path }
})

const enter = Effect.fnUntraced(function* (operationId: OperationId, state: "running" | "awaiting_user" | "completed") {
  assert.isTrue(
    yield* (yield* OperationStore).transition({ operationId, to: state, at: yield* DateTime.now, error: null })
  )
})

const isRequested = (operationId: OperationId) =>
  Effect.flatMap(OperationStore, (store) => store.isCancelRequested(operationId))

layer(ApiLive, { excludeTestServices: true })("cancelling an operation", (it) => {
  it.effect("answers the operation as it is, notifies its run, and may be repeated", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, operationId, path } = yield* running
      yield* enter(operationId, "running")
      const cancelled = yield* call("POST", `${path}/cancel`, { key })
      assert.strictEqual(cancelled.status, 200)
      assert.deepStrictEqual(cancelled.json, (yield* call("GET", path, { key })).json)
      assert.strictEqual(cancelled.json.data.state, "running")
      assert.isTrue(yield* isRequested(operationId))
      assert.include((yield* TestEnvironment).woken, operationId)
      assert.strictEqual((yield* call("POST", `${path}/cancel`, { key })).text, cancelled.text)
    })
  )

  it.effect("of another tenant, or of none, is not found, and nothing is asked of its run", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { operationId, path, portfolioId } = yield* running
      const { key } = yield* newTenant()
      assertError(yield* call("POST", `${path}/cancel`, { key }), NotFound)
      const unknown = `/v2/portfolios/${portfolioId}/operations/op_01ARZ3NDEKTSV4RRFFQ69G5FAV/cancel`
      assertError(yield* call("POST", unknown, { key }), NotFound)
      assert.isFalse(yield* isRequested(operationId))
    })
  )

  it.effect("that has ended is refused, and it stays as it is", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, operationId, path } = yield* running
      yield* enter(operationId, "running")
      yield* enter(operationId, "completed")
      const before = (yield* call("GET", path, { key })).json
      const refused = yield* call("POST", `${path}/cancel`, { key })
      assertError(refused, OperationNotCancellable)
      assert.match(refused.json.error.message, /has ended: it is completed/)
      assert.deepStrictEqual((yield* call("GET", path, { key })).json, before)
      assert.isFalse(yield* isRequested(operationId))
    })
  )

  it.effect("that watches a transfer, or carries the owner's revocation out, is refused", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const sql = yield* SqlClient.SqlClient
      const { key, operationId, path } = yield* running
      for (const [kind, reason] of [
        ["bridge", /arrives or comes back by itself/],
        ["revoke", /owner's signature is not taken back/]
      ] as const) {
        yield* sql`UPDATE operations SET kind = ${kind} WHERE operation_id = ${operationId}`
        const refused = yield* call("POST", `${path}/cancel`, { key })
        assertError(refused, OperationNotCancellable)
        assert.match(refused.json.error.message, reason)
        assert.isFalse(yield* isRequested(operationId))
      }
    })
  )

  it.effect("is what stopping its portfolio does while it waits for its owner, and not while it is at work", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, operationId, portfolioId } = yield* running
      yield* enter(operationId, "running")
      assert.strictEqual((yield* call("POST", `/v2/portfolios/${portfolioId}/stop`, { key })).status, 200)
      assert.isFalse(yield* isRequested(operationId))
      yield* enter(operationId, "awaiting_user")
      assert.strictEqual((yield* call("POST", `/v2/portfolios/${portfolioId}/stop`, { key })).status, 200)
      assert.isTrue(yield* isRequested(operationId))
      assert.include((yield* TestEnvironment).woken, operationId)
    })
  )
})

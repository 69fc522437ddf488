import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { NotFound, RateLimited, ValidationFailed } from "#domain/errors/Errors.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { enrolledUser, newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError, isoTime } from "#test/api/support/assertions.ts"
import { MovableClock } from "#test/support/MovableClock.ts"

const fields = [
  "operationId",
  "portfolioId",
  "kind",
  "state",
  "submittedAt",
  "createdAt",
  "updatedAt",
  "finishedAt",
  "error",
  "trigger",
  "outcome",
  "reason",
  "result"
]

/** An enrolled user whose portfolio has a manual run. */
const running = Effect.gen(function* () {
  const { call } = yield* Api
  const user = yield* enrolledUser()
  const submitted = yield* call("POST", `/v2/portfolios/${user.portfolioId}/rebalance`, { key: user.key })
  return { ...user, submitted, operationId: submitted.json.data.operationId as OperationId }
})

const finish = Effect.fnUntraced(function* (
  operationId: OperationId,
  to: "completed" | "failed",
  error: string | null
) {
  const store = yield* OperationStore
  yield* store.transition({ operationId, to: "running", at: yield* DateTime.now, error: null })
  yield* store.transition({ operationId, to, at: yield* DateTime.now, error })
})

layer(ApiLive, { excludeTestServices: true })("operations", (it) => {
  it.effect("a rebalance answers 202 with the handle and nothing else", () =>
    Effect.gen(function* () {
      const { submitted, operationId } = yield* running
      assertData(submitted, 202, ["operationId", "submittedAt"])
      assert.match(operationId, /^op_[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
      assert.match(submitted.json.data.submittedAt, isoTime)
    })
  )

  it.effect("while a run is not finished the same handle is answered", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, portfolioId, submitted } = yield* running
      const again = yield* call("POST", `/v2/portfolios/${portfolioId}/rebalance`, { key })
      assert.strictEqual(again.status, 202)
      assert.strictEqual(again.text, submitted.text)
    })
  )

  it.effect("shortly after a run another is too soon, and later it is not", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, portfolioId, operationId } = yield* running
      yield* finish(operationId, "completed", null)
      const refused = yield* call("POST", `/v2/portfolios/${portfolioId}/rebalance`, { key })
      assertError(refused, RateLimited)
      const wait = Number(refused.headers.get("retry-after"))
      assert.isTrue(Number.isInteger(wait) && wait >= 1 && wait <= 60)
      ;(yield* MovableClock).advance(60_000)
      const next = yield* call("POST", `/v2/portfolios/${portfolioId}/rebalance`, { key })
      assert.strictEqual(next.status, 202)
      assert.notStrictEqual(next.json.data.operationId, operationId)
    })
  )

  it.effect("an operation shows where it is", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, portfolioId, operationId, submitted } = yield* running
      const path = `/v2/portfolios/${portfolioId}/operations/${operationId}`
      const accepted = yield* call("GET", path, { key })
      assertData(accepted, 200, fields)
      const { submittedAt } = submitted.json.data
      assert.deepStrictEqual(accepted.json.data, {
        operationId,
        portfolioId,
        kind: "rebalance",
        state: "accepted",
        submittedAt,
        createdAt: submittedAt,
        updatedAt: submittedAt,
        finishedAt: null,
        error: null,
        trigger: "manual",
        outcome: null,
        reason: null,
        result: null
      })
      yield* finish(operationId, "failed", "the chain said no")
      const { data } = (yield* call("GET", path, { key })).json
      assert.strictEqual(data.state, "failed")
      assert.strictEqual(data.error, "the chain said no")
      assert.match(data.finishedAt, isoTime)
    })
  )

  it.effect("an operation is found only under its own portfolio and tenant", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, operationId, portfolioId } = yield* running
      const stranger = yield* newTenant()
      const elsewhere = `/v2/portfolios/pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8/operations/${operationId}`
      assertError(yield* call("GET", elsewhere, { key }), NotFound)
      assertError(
        yield* call("GET", `/v2/portfolios/${portfolioId}/operations/${operationId}`, { key: stranger.key }),
        NotFound
      )
      assertError(
        yield* call("GET", `/v2/portfolios/${portfolioId}/operations/op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1`, { key }),
        NotFound
      )
    })
  )

  it.effect("the id in the path is decoded once", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, operationId, portfolioId } = yield* running
      const path = `/v2/portfolios/${portfolioId}/operations`
      assert.strictEqual((yield* call("GET", `${path}/${operationId.replace("_", "%5F")}`, { key })).status, 200)
      for (const id of [operationId.replace("_", "%255F"), "rebalance:x%3Amanual", "op_1"]) {
        assertError(yield* call("GET", `${path}/${id}`, { key }), ValidationFailed, "operationId: ")
      }
    })
  )
})

/**
 * The legacy execute routes: what is accepted, simulated and refused, under their own codes. Source: interface "Legacy
 * execution (v1)".
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import {
  CallsRefused,
  Internal,
  NotFound,
  PermissionDenied,
  PortfolioNotFound,
  ReplayMismatch,
  ValidationFailed
} from "#domain/errors/Errors.ts"
import { type Actor, enrolledUser } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertError } from "#test/api/support/assertions.ts"
import { serviceContract, TestEnvironment } from "#test/api/support/TestEnvironment.ts"

interface User extends Pick<Actor, "key"> {
  readonly portfolioId: string
}

const unknown = "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8"
const one = { to: serviceContract, data: "0x095ea7b3", value: "0" }
const bodyOf = (params: Record<string, unknown> = {}) => ({ chainId: "8453", params: { calls: one, ...params } })

const post = Effect.fnUntraced(function* ({ key, portfolioId }: User, body: unknown, query = "") {
  return yield* (yield* Api).call("POST", `/portfolio/${portfolioId}/execute${query}`, { key, body })
})

const get = Effect.fnUntraced(function* ({ key, portfolioId }: User, executionId: string) {
  return yield* (yield* Api).call("GET", `/portfolio/${portfolioId}/execute/status/${executionId}`, { key })
})

const operationsOf = Effect.fnUntraced(function* ({ portfolioId }: User) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`SELECT kind FROM operations WHERE portfolio_id = ${portfolioId}`
})

layer(ApiLive, { excludeTestServices: true })("legacy execution", (it) => {
  it.effect("the status of what is no execution's id is a bad request", () =>
    Effect.gen(function* () {
      const answer = yield* get(yield* enrolledUser(), "op_1")
      assert.strictEqual(answer.status, 400, answer.text)
      assert.strictEqual(answer.json.error.code, "BAD_REQUEST")
    })
  )

  it.effect("a dry run answers the node's estimate and trace, and stores nothing", () =>
    Effect.gen(function* () {
      const user = yield* enrolledUser()
      const answer = yield* post(user, bodyOf(), "?dryRun=true")
      assert.strictEqual(answer.status, 200, answer.text)
      const { executionId, simulation, transaction } = answer.json.data
      assert.isNull(executionId)
      assert.deepInclude(simulation, { success: true, gasEstimate: "182344" })
      assert.deepInclude(simulation.trace[0], { depth: 0, type: "CALL", gasUsed: "161000", error: null })
      assert.deepInclude(transaction, { hash: null, data: "0x765e827f", chainId: "8453" })
      assert.isEmpty(yield* operationsOf(user))
    })
  )

  it.effect("calls are accepted once for each nonce, in a burst too, and are pending then", () =>
    Effect.gen(function* () {
      const user = yield* enrolledUser()
      const body = bodyOf({ calls: [one, one], nonce: "order-17" })
      const answers = yield* Effect.forEach(Array.from({ length: 12 }), () => post(user, body), {
        concurrency: "unbounded"
      })
      for (const { status, text } of answers) assert.strictEqual(status, 200, text)
      assert.lengthOf(new Set(answers.map(({ json }) => json.data.executionId)), 1)
      assert.deepStrictEqual(yield* operationsOf(user), [{ kind: "execute" }])
      const [{ json }] = answers as [(typeof answers)[number]]
      assert.notProperty(json.data, "simulation")
      const status = yield* get(user, json.data.executionId)
      assert.strictEqual(status.status, 200, status.text)
      assert.deepStrictEqual(status.json.data, {
        executionId: json.data.executionId,
        status: "pending",
        transaction: { hash: null, status: "pending", blockNumber: null, timestamp: null }
      })
      assertError(yield* post(user, bodyOf({ nonce: "order-17" })), ReplayMismatch)
    })
  )

  it.effect("an execution that failed says why", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const user = yield* enrolledUser()
      const { executionId } = (yield* post(user, bodyOf())).json.data
      yield* sql`
        UPDATE operations SET state = 'failed', finished_at = submitted_at, error = 'reverted'
        WHERE operation_id = ${executionId}`
      const { data } = (yield* get(user, executionId)).json
      assert.strictEqual(data.status, "failed")
      assert.deepStrictEqual(data.error, { code: "EXECUTION_FAILED", message: "reverted", details: [] })
      assert.notProperty(data, "result")
    })
  )

  it.effect(
    "what the chain would refuse is SIMULATION_FAILED with its reason, and a chain that is down EXECUTION_FAILED",
    () =>
      Effect.gen(function* () {
        const environment = yield* TestEnvironment
        const user = yield* enrolledUser()
        environment.refusal = "CallNotAllowed()"
        for (const query of ["", "?dryRun=true"]) {
          const answer = yield* post(user, bodyOf(), query)
          assertError(answer, CallsRefused, "calls: CallNotAllowed()")
          assert.strictEqual(answer.json.error.code, "SIMULATION_FAILED")
        }
        environment.refusal = null
        environment.chainsDown = true
        const down = yield* post(user, bodyOf())
        environment.chainsDown = false
        assertError(down, Internal)
        assert.strictEqual(down.json.error.code, "EXECUTION_FAILED")
        assert.isEmpty(yield* operationsOf(user))
      })
  )

  it.effect("malformed calls are BAD_REQUEST by their field", () =>
    Effect.gen(function* () {
      const user = yield* enrolledUser()
      const malformed: ReadonlyArray<unknown> = [
        {},
        { chainId: 8453, params: { calls: one } },
        bodyOf({ calls: [] }),
        bodyOf({ calls: Array.from({ length: 11 }, () => one) }),
        bodyOf({ calls: { ...one, to: "0x12" } }),
        bodyOf({ calls: { ...one, data: "0x1" } }),
        bodyOf({ calls: { ...one, value: "1" } }),
        bodyOf({ nonce: "" })
      ]
      for (const body of malformed) {
        const answer = yield* post(user, body)
        assertError(answer, ValidationFailed)
        assert.strictEqual(answer.json.error.code, "BAD_REQUEST")
      }
      assertError(yield* post(user, { ...bodyOf(), chainId: "10" }), ValidationFailed, "chainId: ")
      assertError(yield* post(user, bodyOf(), "?dryRun=maybe"), ValidationFailed, "dryRun")
      assert.isEmpty(yield* operationsOf(user))
    })
  )

  it.effect("an account under a permission of before the guard is FORBIDDEN", () =>
    Effect.gen(function* () {
      const environment = yield* TestEnvironment
      environment.isGuarded = false
      const user = yield* enrolledUser()
      environment.isGuarded = true
      const answer = yield* post(user, bodyOf())
      assertError(answer, PermissionDenied)
      assert.strictEqual(answer.json.error.code, "FORBIDDEN")
    })
  )

  it.effect("foreign portfolios and executions are NOT_FOUND", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const [user, foreign] = [yield* enrolledUser(), yield* enrolledUser()]
      const { executionId } = (yield* post(foreign, bodyOf())).json.data
      for (const portfolioId of [unknown, foreign.portfolioId]) {
        const answer = yield* post({ key: user.key, portfolioId }, bodyOf())
        assertError(answer, PortfolioNotFound)
        assert.strictEqual(answer.json.error.code, "NOT_FOUND")
        assertError(yield* get({ key: user.key, portfolioId }, executionId), NotFound)
      }
      const run = yield* call("POST", `/v2/portfolios/${user.portfolioId}/rebalance`, { key: user.key })
      assertError(yield* get(user, run.json.data.operationId), NotFound)
    })
  )
})

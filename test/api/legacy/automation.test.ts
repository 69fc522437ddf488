/** The legacy routes of a portfolio's automation, beside v2 on the same portfolio. Source: shapes 2.30. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { NotFound, PortfolioNotFound, RateLimited, ValidationFailed } from "#domain/errors/Errors.ts"
import { type Actor, enrolledUser } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertError, isoTime } from "#test/api/support/assertions.ts"
import { MovableClock } from "#test/support/MovableClock.ts"

const unknown = "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8"
const day = 86_400_000

interface User extends Pick<Actor, "key"> {
  readonly portfolioId: string
}

const get = Effect.fnUntraced(function* ({ key, portfolioId }: User, route: string) {
  return yield* (yield* Api).call("GET", `/v1/portfolio/${portfolioId}/${route}`, { key })
})

const post = Effect.fnUntraced(function* ({ key, portfolioId }: User, route: string, body: unknown = {}) {
  return yield* (yield* Api).call("POST", `/v1/portfolio/${portfolioId}/rebalance/schedule/${route}`, { key, body })
})

const scheduleInV2 = Effect.fnUntraced(function* ({ key, portfolioId }: User) {
  return (yield* (yield* Api).call("GET", `/v2/portfolios/${portfolioId}`, { key })).json.data.schedule
})

/** Ends the operation as its run would. */
const complete = Effect.fnUntraced(function* (operationId: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO operation_events (operation_id, sequence, at, kind, payload)
    SELECT operation_id, 2, submitted_at + interval '2 seconds', 'state', '{"state": "running", "error": null}'
    FROM operations WHERE operation_id = ${operationId}`
  yield* sql`
    UPDATE operations SET state = 'completed', finished_at = submitted_at, last_sequence = 2
    WHERE operation_id = ${operationId}`
})

layer(ApiLive, { excludeTestServices: true })("legacy automation", (it) => {
  it.effect("a portfolio of v2 is answered in the v1 envelope: active, nothing done yet, next due as v2 says", () =>
    Effect.gen(function* () {
      const user = yield* enrolledUser()
      const answer = yield* get(user, "automation/status")
      assert.strictEqual(answer.status, 200, answer.text)
      assert.sameMembers(Object.keys(answer.json), ["success", "data", "correlationId", "requestId", "timestamp"])
      assert.strictEqual(answer.json.correlationId, answer.headers.get("x-correlation-id"))
      assert.match(answer.json.timestamp, isoTime)
      assert.deepStrictEqual(answer.json.data, {
        portfolioId: user.portfolioId,
        status: "active",
        hasAutomation: true,
        message: "Automation is active",
        rebalanceScheduleId: `sched_${user.portfolioId.slice(3)}`,
        details: {
          totalExecutions: 0,
          paused: false,
          pauseReason: null,
          recentActions: [],
          nextScheduledExecution: (yield* scheduleInV2(user)).nextDueAt
        }
      })
    })
  )

  it.effect("pause and resume switch what v2 shows, and v2's switch shows here", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const clock = yield* MovableClock
      const user = yield* enrolledUser()
      clock.advance(5_000)
      const paused = yield* post(user, "pause", { reason: "Maintenance" })
      assert.strictEqual(paused.status, 200, paused.text)
      const { pausedAt, ...data } = paused.json.data
      assert.deepStrictEqual(data, {
        portfolioId: user.portfolioId,
        scheduleId: `sched_${user.portfolioId.slice(3)}`,
        status: "paused",
        message: "Automation is paused",
        paused: true,
        reason: "Maintenance"
      })
      assert.strictEqual((yield* scheduleInV2(user)).status, "paused")
      const { details, status } = (yield* get(user, "automation/status")).json.data
      assert.strictEqual(status, "paused")
      assert.deepInclude(details, { paused: true, pauseReason: "Maintenance", nextScheduledExecution: null })
      clock.advance(5_000)
      // Paused already: the moment of the first pause stays.
      const again = yield* post(user, "pause")
      assert.strictEqual(again.json.data.pausedAt, pausedAt)
      assert.isNull(again.json.data.reason)
      assert.strictEqual((yield* get(user, "automation/status")).json.data.details.pauseReason, "Maintenance")
      const resumed = yield* post(user, "resume", { reason: "Done" })
      assert.strictEqual(resumed.status, 200, resumed.text)
      assert.deepInclude(resumed.json.data, { status: "resumed", paused: false, reason: "Done" })
      assert.strictEqual((yield* scheduleInV2(user)).status, "active")
      yield* call("POST", `/v2/portfolios/${user.portfolioId}/stop`, { key: user.key })
      const stopped = (yield* get(user, "automation/status")).json.data
      assert.deepInclude(stopped.details, { paused: true, pauseReason: "stopped" })
    })
  )

  it.effect("start activates, answers the strategy's interval, and starts a rebalance when the body asks for one", () =>
    Effect.gen(function* () {
      const user = yield* enrolledUser()
      yield* post(user, "pause")
      const quiet = yield* post(user, "start")
      assert.strictEqual(quiet.status, 200, quiet.text)
      assert.deepStrictEqual(quiet.json.data, {
        portfolioId: user.portfolioId,
        rebalanceScheduleId: `sched_${user.portfolioId.slice(3)}`,
        status: "started",
        message: "Automation is active",
        runRebalanceImmediately: false,
        isAutomated: true,
        intervalMs: day
      })
      const options = { runRebalanceImmediately: true, initializeScheduleAutomatically: true, interval: day }
      assert.isTrue((yield* post(user, "start", options)).json.data.runRebalanceImmediately)
      const [run] = (yield* get(user, "rebalance/status")).json.data.recentWorkflows
      yield* complete(run.workflowId)
      const cooling = yield* post(user, "start", options)
      assert.strictEqual(cooling.status, 200, cooling.text)
      assert.isFalse(cooling.json.data.runRebalanceImmediately)
      assert.include(cooling.json.data.message, "cooldown")
    })
  )

  it.effect("an interval that is not the strategy's is refused, and changes nothing", () =>
    Effect.gen(function* () {
      const user = yield* enrolledUser()
      yield* post(user, "pause")
      assertError(
        yield* post(user, "start", { interval: 7 * 3_600_000 }),
        ValidationFailed,
        `interval: the strategy's is ${day}`
      )
      assertError(yield* post(user, "start", { interval: 1 }), ValidationFailed, "interval")
      assertError(yield* post(user, "start", { intervall: day }), ValidationFailed, "intervall")
      assertError(yield* post(user, "pause", { reason: "x".repeat(201) }), ValidationFailed, "reason")
      assert.strictEqual((yield* scheduleInV2(user)).status, "paused")
    })
  )

  it.effect("the interval that legacy clients send by default starts the strategy's own schedule", () =>
    Effect.gen(function* () {
      const user = yield* enrolledUser()
      yield* post(user, "pause")
      const started = yield* post(user, "start", { interval: 21_600_000 })
      assert.strictEqual(started.status, 200, started.text)
      assert.strictEqual(started.json.data.intervalMs, day)
      assert.strictEqual((yield* scheduleInV2(user)).status, "active")
    })
  )

  it.effect("trigger starts the rebalance that v2 polls, and lists it among the latest", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const user = yield* enrolledUser()
      const first = yield* post(user, "trigger")
      assert.strictEqual(first.status, 200, first.text)
      const { workflowId } = first.json.data
      assert.deepInclude(first.json.data, { portfolioId: user.portfolioId, runId: workflowId, status: "triggered" })
      assert.strictEqual((yield* post(user, "trigger")).json.data.workflowId, workflowId)
      const polled = yield* call("GET", `/v2/portfolios/${user.portfolioId}/operations/${workflowId}`, {
        key: user.key
      })
      assert.strictEqual(polled.json.data.kind, "rebalance")
      const [waiting] = (yield* get(user, "rebalance/status?limit=1")).json.data.recentWorkflows
      assert.deepInclude(waiting, { workflowId, runId: workflowId, startedAt: null, status: "accepted" })
      yield* complete(workflowId)
      const { details } = (yield* get(user, "automation/status")).json.data
      assert.strictEqual(details.totalExecutions, 1)
      assert.strictEqual(details.recentActions[0].workflowId, workflowId)
      assert.isAbove(Date.parse(details.recentActions[0].takenAt), Date.parse(details.recentActions[0].scheduledAt))
      assertError(yield* post(user, "trigger"), RateLimited)
    })
  )

  it.effect("a paused schedule is triggered only when validation is skipped", () =>
    Effect.gen(function* () {
      const user = yield* enrolledUser()
      yield* post(user, "pause")
      assertError(yield* post(user, "trigger"), ValidationFailed, "skipScheduleValidation: the schedule is paused")
      assert.strictEqual((yield* post(user, "trigger", { skipScheduleValidation: true })).status, 200)
    })
  )

  it.effect("a portfolio without a schedule is inactive, and cannot be switched", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const user = yield* enrolledUser()
      yield* sql`DELETE FROM schedules WHERE portfolio_id = ${user.portfolioId}`
      const { data } = (yield* get(user, "automation/status")).json
      assert.deepInclude(data, { status: "inactive", hasAutomation: false, rebalanceScheduleId: null })
      for (const route of ["start", "pause", "resume", "trigger"]) {
        assertError(yield* post(user, route), ValidationFailed)
      }
    })
  )

  it.effect("another tenant's portfolio is answered like one that does not exist, whatever is asked", () =>
    Effect.gen(function* () {
      const { key } = yield* enrolledUser()
      const foreign = yield* enrolledUser()
      for (const portfolioId of [unknown, foreign.portfolioId]) {
        assertError(yield* get({ key, portfolioId }, "automation/status"), NotFound)
        assertError(yield* get({ key, portfolioId }, "rebalance/status"), NotFound)
        for (const route of ["start", "pause", "resume", "trigger"]) {
          assertError(yield* post({ key, portfolioId }, route), PortfolioNotFound)
        }
      }
      assertError(yield* get({ key, portfolioId: "pf_nobody" }, "automation/status"), ValidationFailed, "portfolioId")
      assertError(yield* get(foreign, "rebalance/status?limit=51"), ValidationFailed)
      assert.strictEqual((yield* scheduleInV2(foreign)).status, "active")
    })
  )
})

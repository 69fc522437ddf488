/** The operator's control of waiting workflows, with every answer that its routes may give. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import {
  Internal,
  KeyInvalid,
  KeyMissing,
  NotFound,
  PortfolioNotFound,
  ReplayMismatch,
  ValidationFailed,
  WorkflowAsleep
} from "#domain/errors/Errors.ts"
import { enrolledUser } from "#test/api/support/actors.ts"
import { adminToken, Api, ApiLive } from "#test/api/support/Api.ts"
import { assertError, assertTraced } from "#test/api/support/assertions.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { baseWeth } from "#test/support/assets.ts"

const root = "/v1/admin/control-plane/workflow-monitors"

const post = (path: string, body: unknown, token = adminToken) =>
  Effect.flatMap(Api, ({ call }) =>
    call("POST", `${root}${path}`, { headers: { authorization: `Bearer ${token}` }, body })
  )

/** What a route answers when all is well. */
const answered = Effect.fnUntraced(function* (path: string, body: unknown, status: number) {
  const answer = yield* post(path, body)
  assert.strictEqual(answer.status, status, answer.text)
  assertTraced(answer)
  return answer.json.data
})

const nowIso = Effect.map(DateTime.now, DateTime.formatIso)

const price = {
  kind: "market_price",
  assetId: baseWeth.assetId,
  comparison: "above",
  threshold: "1000000",
  hysteresis: "1"
}

/** A workflow of a fresh portfolio, with the names that every route asks for. */
const created = Effect.fnUntraced(function* (draft: object = { trigger: price }) {
  const user = yield* enrolledUser()
  const data = yield* answered("", { portfolioId: user.portfolioId, title: "Ether", ...draft }, 201)
  const { ownerAddress, workerId, workflow } = data
  return { ...user, data, named: { ownerAddress, workflowId: workflow.workflowId as string }, workerId }
})

const withTime = <Body extends object>(body: Body) => Effect.map(nowIso, (asOfIso) => ({ asOfIso, ...body }))

/** The key of the workflow's next tick, as `due` says it. */
const dueKey = Effect.fnUntraced(function* (workflowId: string) {
  const { due } = yield* answered("/due", yield* withTime({ limit: 200 }), 200)
  return due.find((one: { readonly workflowId: string }) => one.workflowId === workflowId)
})

const finish = (operationId: string, state: "completed" | "failed") =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      UPDATE operations SET state = ${state}, finished_at = submitted_at, updated_at = submitted_at
      WHERE operation_id = ${operationId}`
  )

layer(ApiLive, { excludeTestServices: true })("workflow monitors", (it) => {
  it.effect("a matched trigger is enqueued once, ticked once by its key, and its run wakes the workflow", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { data, key, named, portfolioId, workerId } = yield* created()
      assert.strictEqual(data.workflow.kind, "triggered")
      assert.strictEqual(data.workflow.triggerKind, "market_price")
      assert.deepStrictEqual(data.workflow.linkedPortfolioIds, [portfolioId])
      assert.strictEqual(data.monitorState.status, "waiting")

      const match = yield* withTime({ ...named, triggerSummary: "Ether is dear" })
      const first = yield* answered("/notify-trigger-match", match, 202)
      assert.deepStrictEqual(first, {
        asOfIso: match.asOfIso,
        enqueued: true,
        ...named,
        portfolioId,
        requestId: first.requestId,
        triggerSummary: "Ether is dear",
        workerId
      })
      assert.match(first.requestId, new RegExp(`^workflow-monitor-tick:${named.workflowId}:`, "u"))
      assert.strictEqual((yield* answered("/notify-trigger-match", match, 202)).requestId, first.requestId)

      const due = yield* dueKey(named.workflowId)
      assert.deepStrictEqual(due, {
        monitorStatus: "ready",
        nextCheckAt: due.nextCheckAt,
        ownerAddress: named.ownerAddress,
        requestId: first.requestId,
        workerId,
        workflowId: named.workflowId,
        workflowStatus: "active"
      })

      const tick = yield* withTime({ ...named, workerId, requestId: first.requestId })
      const ticked = yield* answered("/tick", tick, 200)
      const { operationId } = ticked.currentExecution
      assert.deepStrictEqual(ticked.currentExecution, {
        executionRequestId: first.requestId,
        operationId,
        runId: operationId
      })
      assert.strictEqual(ticked.monitorState.status, "waiting")
      assert.isNotNull(ticked.monitorState.startedAt)
      assert.isNull(ticked.userId)
      assert.deepStrictEqual(ticked.workflow.linkedOperationIds, [operationId])
      assert.deepStrictEqual(yield* answered("/tick", tick, 200), ticked)

      const path = `/v2/portfolios/${portfolioId}/operations/${operationId}`
      const operation = (yield* call("GET", path, { key })).json.data
      assert.strictEqual(operation.trigger, "triggered")
      assert.deepStrictEqual(operation.firedBy, {
        workflowId: named.workflowId,
        kind: "market_price",
        summary: "Ether: Ether is dear"
      })
      const list = yield* call("GET", `/v2/portfolios/${portfolioId}/operations`, { key })
      assert.deepStrictEqual(list.json.data.operations[0].firedBy, operation.firedBy)

      const notice = yield* withTime({ executionRequestId: first.requestId, operationId, runId: operationId })
      const early = yield* answered("/notify-execution", notice, 202)
      assert.isFalse(early.enqueued)
      assert.deepStrictEqual(early.matchedExecution, { operationId, runId: operationId })
      yield* finish(operationId, "completed")
      // The end of the operation notified the workflow.
      const woken = yield* dueKey(named.workflowId)
      assert.strictEqual(woken.monitorStatus, "ready")
      const again = yield* answered("/tick", yield* withTime({ ...named, workerId, requestId: woken.requestId }), 200)
      assert.strictEqual(again.monitorState.status, "waiting")
      assert.isNull(again.currentExecution)
      // A key that was used runs nothing, though the workflow is due again.
      const replayed = yield* answered("/tick", tick, 200)
      assert.isNull(replayed.currentExecution)
    })
  )

  it.effect("an execution that nobody waits for is accepted and enqueues nothing", () =>
    Effect.gen(function* () {
      const operationId = "op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1"
      const notice = yield* withTime({ executionRequestId: "nobody", operationId, runId: operationId })
      assert.deepStrictEqual(yield* answered("/notify-execution", notice, 202), {
        asOfIso: notice.asOfIso,
        enqueued: false,
        matchedExecution: null,
        ownerAddress: null,
        portfolioId: null,
        requestId: null,
        workerId: null,
        workflowId: null
      })
    })
  )

  it.effect("the end of an execution is enqueued by notice where it was not seen", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { named, workerId } = yield* created()
      const event = { kind: "market_price", summary: "dear", watchKey: "k", dependencies: ["d"] }
      const requestId = `own-${named.workflowId}`
      const tick = yield* withTime({ ...named, workerId, requestId, triggerEvent: event })
      const { operationId } = (yield* answered("/tick", tick, 200)).currentExecution
      yield* sql`ALTER TABLE operations DISABLE TRIGGER ended_operations_wake_monitors`
      yield* finish(operationId, "failed")
      yield* sql`ALTER TABLE operations ENABLE TRIGGER ended_operations_wake_monitors`
      const other = yield* withTime({ executionRequestId: requestId, operationId, runId: "another" })
      assert.isFalse((yield* answered("/notify-execution", other, 202)).enqueued)
      const notice = yield* withTime({ executionRequestId: requestId, operationId, runId: operationId })
      const notified = yield* answered("/notify-execution", notice, 202)
      assert.isTrue(notified.enqueued)
      const ticked = yield* answered(
        "/tick",
        yield* withTime({ ...named, workerId, requestId: notified.requestId }),
        200
      )
      // It failed: the next try is by the clock, and there is no event to recover.
      assert.isNotNull(ticked.monitorState.retryAfter)
      assert.isNotNull(ticked.workflow.nextRunAt)
    })
  )

  it.effect("recover replays an event wait, begins anew what has ended, and refuses what only sleeps", () =>
    Effect.gen(function* () {
      const { named, portfolioId, workerId } = yield* created({ trigger: price, isRepeated: false })
      const body = { ...named, portfolioId }
      const recovered = yield* answered("/recover", yield* withTime(body), 202)
      assert.isTrue(recovered.enqueued)
      assert.strictEqual(recovered.workflowId, named.workflowId)
      const triggerEvent = { kind: "market_price" }
      const matched = yield* answered("/recover", yield* withTime({ ...body, triggerEvent }), 202)
      assert.isTrue(matched.enqueued)
      const tick = { ...named, workerId, requestId: matched.requestId }
      const { operationId } = (yield* answered("/tick", yield* withTime(tick), 200)).currentExecution
      assert.isFalse((yield* answered("/recover", yield* withTime(body), 202)).enqueued)
      yield* finish(operationId, "completed")
      const { requestId } = yield* dueKey(named.workflowId)
      const ended = yield* answered("/tick", yield* withTime({ ...named, workerId, requestId }), 200)
      assert.strictEqual(ended.monitorState.status, "completed")
      assert.isNotNull(ended.monitorState.completedAt)
      const anew = yield* answered("/recover", yield* withTime(body), 202)
      assert.isTrue(anew.enqueued)
      assert.notStrictEqual(anew.requestId, requestId)
      const fresh = yield* answered("/tick", yield* withTime({ ...named, workerId, requestId: anew.requestId }), 200)
      assert.strictEqual(fresh.monitorState.status, "waiting")

      const asleep = yield* created({ everyMs: 3_600_000, firstRunAt: "2030-01-01T00:00:00.000Z" })
      assert.strictEqual(asleep.data.workflow.kind, "scheduled")
      assert.strictEqual(asleep.data.workflow.nextRunAt, "2030-01-01T00:00:00.000Z")
      const refused = yield* post("/recover", yield* withTime({ ...asleep.named, portfolioId: asleep.portfolioId }))
      assertError(refused, WorkflowAsleep)
      assert.include(refused.json.error.message, "2030-01-01T00:00:00.000Z")
    })
  )

  it.effect("a scheduled workflow runs at its time, and again after its interval", () =>
    Effect.gen(function* () {
      const { named, workerId } = yield* created({ everyMs: 3_600_000 })
      const { requestId } = yield* dueKey(named.workflowId)
      const ticked = yield* answered("/tick", yield* withTime({ ...named, workerId, requestId }), 200)
      const { operationId } = ticked.currentExecution
      assert.isNotNull(ticked.workflow.lastRunAt)
      yield* finish(operationId, "completed")
      const next = yield* dueKey(named.workflowId)
      const rested = yield* answered("/tick", yield* withTime({ ...named, workerId, requestId: next.requestId }), 200)
      assert.isNotNull(rested.monitorState.waitingUntil)
      assert.isUndefined(yield* dueKey(named.workflowId))
      ;(yield* MovableClock).advance(3_600_000)
      assert.strictEqual((yield* dueKey(named.workflowId)).monitorStatus, "waiting")
    })
  )

  it.effect("nothing wakes a workflow before it is approved", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { data, named, workerId } = yield* created({ trigger: price, needsApproval: true })
      assert.strictEqual(data.workflow.status, "pending_approval")
      assert.isUndefined(yield* dueKey(named.workflowId))
      const match = { ...named, triggerSummary: "dear" }
      assert.isFalse((yield* answered("/notify-trigger-match", yield* withTime(match), 202)).enqueued)
      const tick = { ...named, workerId, requestId: "early", triggerEvent: { kind: "market_price" } }
      assert.isNull((yield* answered("/tick", yield* withTime(tick), 200)).currentExecution)
      const approved = yield* answered(`/${named.workflowId}/approve`, undefined, 200)
      assert.strictEqual(approved.workflow.status, "active")
      assert.strictEqual((yield* answered(`/${named.workflowId}/approve`, undefined, 200)).workflow.status, "active")
      assert.isTrue((yield* answered("/notify-trigger-match", yield* withTime(match), 202)).enqueued)
      const removal = yield* call("DELETE", `${root}/${named.workflowId}`, {
        headers: { authorization: `Bearer ${adminToken}` }
      })
      assert.deepStrictEqual(removal.json.data, { workflowId: named.workflowId, removed: true })
      assertError(yield* post(`/${named.workflowId}/approve`, undefined), NotFound)
      assertError(
        yield* call("DELETE", `${root}/${named.workflowId}`, { headers: { authorization: `Bearer ${adminToken}` } }),
        NotFound
      )
    })
  )

  it.effect("accounting metrics match by notice alone", () =>
    Effect.gen(function* () {
      const kind = "portfolio_held_asset_accounting_metrics"
      const trigger = { kind, assetId: baseWeth.assetId, watchKey: "gain:weth" }
      const { named, portfolioId, workerId } = yield* created({ trigger })
      const event = { triggerEvent: { kind, watchKey: "gain:weth" } }
      const tick = yield* withTime({ ...named, workerId, requestId: "t", ...event })
      assertError(yield* post("/tick", tick), ValidationFailed)
      const match = yield* withTime({ ...named, triggerSummary: "gain", ...event })
      assert.isTrue((yield* answered("/notify-trigger-match", match, 202)).enqueued)
      assert.isTrue((yield* answered("/recover", yield* withTime({ ...named, portfolioId, ...event }), 202)).enqueued)
    })
  )

  it.effect("what is not one's own, of another kind, or said with another body is refused and changes nothing", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* created(), yield* created()]
      const { named, portfolioId, workerId } = one
      const foreign = { ...named, ownerAddress: other.named.ownerAddress }
      const tick = { ...named, workerId, requestId: "a" }
      assertError(yield* post("/tick", yield* withTime({ ...tick, ...foreign })), NotFound)
      assertError(yield* post("/notify-trigger-match", yield* withTime({ ...foreign, triggerSummary: "" })), NotFound)
      assertError(yield* post("/recover", yield* withTime({ ...foreign, portfolioId })), NotFound)
      assertError(yield* post("/recover", yield* withTime({ ...named, portfolioId: other.portfolioId })), NotFound)
      assertError(yield* post("/tick", yield* withTime({ ...tick, workerId: other.workerId })), ValidationFailed)
      const nav = { triggerEvent: { kind: "portfolio_nav_usd" } }
      assertError(yield* post("/tick", yield* withTime({ ...tick, ...nav })), ValidationFailed)
      assertError(
        yield* post("/notify-trigger-match", yield* withTime({ ...named, triggerSummary: "", ...nav })),
        ValidationFailed
      )
      const scheduled = yield* created({ everyMs: 3_600_000 })
      assertError(
        yield* post("/notify-trigger-match", yield* withTime({ ...scheduled.named, triggerSummary: "" })),
        ValidationFailed
      )
      const event = { triggerEvent: { kind: "market_price", summary: "x" } }
      yield* answered("/tick", yield* withTime({ ...tick, ...event }), 200)
      assertError(yield* post("/tick", yield* withTime(tick)), ReplayMismatch)
      const stranger = yield* withTime({ ...other.named, workerId: other.workerId, requestId: "a" })
      assertError(yield* post("/tick", stranger), ReplayMismatch)
    })
  )

  it.effect("a clock that is off by more than five minutes is refused with the bound, on every route", () =>
    Effect.gen(function* () {
      const { named, portfolioId, workerId } = yield* created()
      const bodies = {
        "/due": { limit: 1 },
        "/tick": { ...named, workerId, requestId: "x" },
        "/notify-execution": {
          executionRequestId: "x",
          operationId: "op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1",
          runId: "op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1"
        },
        "/notify-trigger-match": { ...named, triggerSummary: "" },
        "/recover": { ...named, portfolioId }
      }
      for (const [path, body] of Object.entries(bodies)) {
        for (const minutes of [-6, 6]) {
          const asOfIso = DateTime.formatIso(DateTime.add(yield* DateTime.now, { minutes }))
          const answer = yield* post(path, { ...body, asOfIso })
          assertError(answer, ValidationFailed)
          assert.include(answer.json.error.details[0], "asOfIso: Expected a time within 5 minutes")
        }
        assertError(yield* post(path, { ...body, asOfIso: "yesterday" }), ValidationFailed)
        assertError(yield* post(path, { ...(yield* withTime(body)), more: 1 }), ValidationFailed)
        assertError(yield* post(path, yield* withTime(body), `${adminToken}x`), KeyInvalid)
        const { call } = yield* Api
        assertError(yield* call("POST", `${root}${path}`, { body: yield* withTime(body) }), KeyMissing)
      }
    })
  )

  it.effect("a draft needs its portfolio, and a trigger or a time", () =>
    Effect.gen(function* () {
      const { portfolioId } = yield* enrolledUser()
      const draft = { portfolioId, title: "T" }
      for (const wrong of [
        { trigger: price, everyMs: 3_600_000 },
        { trigger: price, firstRunAt: "2030-01-01T00:00:00.000Z" },
        { everyMs: 1 },
        { isRepeated: true },
        { trigger: { ...price, threshold: "1e5" } },
        { trigger: { ...price, hysteresis: "-1" } },
        { trigger: { kind: "moon_phase" } },
        { trigger: { ...price, kind: "market_candles" } },
        { trigger: { ...price, kind: "market_candles", windowDays: 1, windowHours: 1 } },
        { trigger: { ...price, kind: "market_candles", windowHours: 337 } },
        { title: "" }
      ])
        assertError(yield* post("", { ...draft, ...wrong }), ValidationFailed)
      const unknown = { ...draft, portfolioId: "pf_01JQ8ZKX4V6T3M9N2C5B7D8F0G", trigger: price }
      assertError(yield* post("", unknown), PortfolioNotFound)
      for (const window of [{ windowDays: 30 }, { windowHours: 4 }])
        yield* answered("", { ...draft, trigger: { ...price, kind: "market_candles", ...window } }, 201)
      for (let made = 0; made < 18; made += 1) yield* answered("", { ...draft, trigger: price }, 201)
      assertError(yield* post("", { ...draft, trigger: price }), ValidationFailed)
    })
  )

  it.effect("a store that fails is answered as a fault of the service", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* Effect.acquireUseRelease(
        sql`ALTER TABLE workflow_monitors RENAME TO gone`,
        () =>
          Effect.flatMap(withTime({ limit: 1 }), (body) =>
            Effect.map(post("/due", body), (answer) => assertError(answer, Internal))
          ),
        () => Effect.orDie(sql`ALTER TABLE gone RENAME TO workflow_monitors`)
      )
    })
  )
})

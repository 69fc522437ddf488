import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { NotFound, PortfolioNotFound, ValidationFailed } from "#domain/errors/Errors.ts"
import { enroll, enrolledUser, newOwner, newStrategy, newTenant, prepare } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError, isoTime } from "#test/api/support/assertions.ts"
import { ownerSignature, TestEnvironment } from "#test/api/support/TestEnvironment.ts"
import { MovableClock } from "#test/support/MovableClock.ts"

const itemFields = [
  "portfolioId",
  "portfolioName",
  "ownerAccountId",
  "strategyId",
  "strategyName",
  "strategyDescription",
  "smartAccounts",
  "schedule",
  "createdAt"
]
const standing = ["activeOperationId", "lastOperation", "attention"]
const fields = [...itemFields, "strategyVersion", "updatedAt", ...standing]

const unknownId = "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8"

layer(ApiLive, { excludeTestServices: true })("portfolios", (it) => {
  it.effect("the detail has its fields and formats", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, portfolioId, strategyId, smartAccounts } = yield* enrolledUser()
      const answer = yield* call("GET", `/v2/portfolios/${portfolioId}`, { key })
      assertData(answer, 200, fields)
      const { data } = answer.json
      assert.strictEqual(data.portfolioId, portfolioId)
      assert.isNull(data.portfolioName)
      assert.match(data.ownerAccountId, /^eip155:0:0x[0-9a-fA-F]{40}$/)
      assert.strictEqual(data.strategyId, strategyId)
      assert.strictEqual(data.strategyName, "Blue chips")
      assert.strictEqual(data.strategyVersion, 1)
      assert.deepStrictEqual(
        data.smartAccounts,
        smartAccounts.map((accountId) => ({ accountId, permission: "guard" }))
      )
      assert.sameMembers(Object.keys(data.schedule), [
        "status",
        "pauseReason",
        "frequency",
        "intervalMs",
        "nextDueAt",
        "lastRebalanceAt",
        "lastCheckedAt"
      ])
      assert.strictEqual(data.schedule.status, "active")
      assert.strictEqual(data.schedule.frequency, "daily")
      assert.strictEqual(data.schedule.intervalMs, 86_400_000)
      assert.isNull(data.schedule.lastRebalanceAt)
      for (const time of [data.createdAt, data.updatedAt, data.schedule.nextDueAt]) assert.match(time, isoTime)
    })
  )

  it.effect("the list's item is the detail without its own fields", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, portfolioId } = yield* enrolledUser()
      const { data } = (yield* call("GET", `/v2/portfolios/${portfolioId}`, { key })).json
      const list = yield* call("GET", "/v2/portfolios", { key })
      const own = new Set(["strategyVersion", "updatedAt", ...standing])
      const item = Object.fromEntries(Object.entries(data).filter(([field]) => !own.has(field)))
      assert.deepStrictEqual(list.json, { success: true, data: { portfolios: [item] }, nextCursor: null })
    })
  )

  const commands: ReadonlyArray<readonly [method: string, suffix: string, body?: unknown]> = [
    ["PATCH", "", {}],
    ["POST", "/start"],
    ["POST", "/stop"],
    ["POST", "/rebalance"]
  ]

  it.effect("a portfolio that is unknown and one that is another tenant's are answered alike", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { portfolioId } = yield* enrolledUser()
      const { key } = yield* newTenant()
      for (const suffix of ["", "/positions"]) {
        const [missing, foreign] = [
          yield* call("GET", `/v2/portfolios/${unknownId}${suffix}`, { key }),
          yield* call("GET", `/v2/portfolios/${portfolioId}${suffix}`, { key })
        ]
        assertError(missing, NotFound)
        assert.strictEqual(foreign.text, missing.text.replace(unknownId, portfolioId))
      }
      for (const [method, suffix, body] of commands) {
        const [missing, foreign] = [
          yield* call(method, `/v2/portfolios/${unknownId}${suffix}`, { key, body }),
          yield* call(method, `/v2/portfolios/${portfolioId}${suffix}`, { key, body })
        ]
        assertError(missing, PortfolioNotFound)
        assert.strictEqual(foreign.text, missing.text.replace(unknownId, portfolioId))
      }
    })
  )

  it.effect("an id of another form is a 400 on every route", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      for (const [method, suffix, body] of [...commands, ["GET", ""] as const, ["GET", "/positions"] as const]) {
        assertError(
          yield* call(method, `/v2/portfolios/a1b2c3d4${suffix}`, { key, body }),
          ValidationFailed,
          "portfolioId: "
        )
      }
    })
  )

  it.effect("stop pauses and keeps the due time, start makes it due now, and both repeat without effect", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, portfolioId } = yield* enrolledUser()
      const path = `/v2/portfolios/${portfolioId}`
      const before = (yield* call("GET", path, { key })).json.data
      const stopped = yield* call("POST", `${path}/stop`, { key })
      assertData(stopped, 200, fields)
      assert.deepStrictEqual(stopped.json.data.schedule, {
        ...before.schedule,
        status: "paused",
        pauseReason: "stopped"
      })
      assert.strictEqual((yield* call("POST", `${path}/stop`, { key, body: {} })).text, stopped.text)
      ;(yield* MovableClock).advance(3_600_000)
      const started = yield* call("POST", `${path}/start`, { key })
      assertData(started, 200, fields)
      assert.strictEqual(started.json.data.schedule.status, "active")
      assert.isTrue(started.json.data.schedule.nextDueAt > before.schedule.nextDueAt)
      assert.strictEqual((yield* call("POST", `${path}/start`, { key, body: {} })).text, started.text)
    })
  )

  it.effect("without a schedule there is nothing to start or stop", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const sql = yield* SqlClient.SqlClient
      const { key, portfolioId } = yield* enrolledUser()
      yield* sql`DELETE FROM schedules WHERE portfolio_id = ${portfolioId}`
      for (const command of ["start", "stop"]) {
        assertError(
          yield* call("POST", `/v2/portfolios/${portfolioId}/${command}`, { key }),
          ValidationFailed,
          "portfolioId: "
        )
      }
      assert.isNull((yield* call("GET", `/v2/portfolios/${portfolioId}`, { key })).json.data.schedule)
      assert.deepStrictEqual((yield* call("GET", "/v2/portfolios?status=active", { key })).json.data.portfolios, [])
    })
  )

  for (const command of ["start", "stop", "rebalance"]) {
    it.effect(`${command} takes no body or {}, and nothing else`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const { key, portfolioId } = yield* enrolledUser()
        const path = `/v2/portfolios/${portfolioId}/${command}`
        for (const text of ["[]", "null", "1", '"x"', "{", "[1]"]) {
          assertError(yield* call("POST", path, { key, text }), ValidationFailed, "body: ")
        }
        assertError(yield* call("POST", path, { key, body: { force: true } }), ValidationFailed, "force: ")
        assert.oneOf((yield* call("POST", path, { key })).status, [200, 202])
        assert.oneOf((yield* call("POST", path, { key, body: {} })).status, [200, 202])
      })
    )
  }

  it.effect("patch renames, trims, clears and keeps", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, portfolioId } = yield* enrolledUser()
      const patch = (body: unknown) => call("PATCH", `/v2/portfolios/${portfolioId}`, { key, body })
      const named = yield* patch({ portfolioName: "  Épargne 1  " })
      assertData(named, 200, fields)
      assert.strictEqual(named.json.data.portfolioName, "Épargne 1")
      assert.strictEqual((yield* patch({})).text, named.text)
      assert.isNull((yield* patch({ portfolioName: null })).json.data.portfolioName)
      assert.strictEqual((yield* patch({ portfolioName: "x".repeat(64) })).status, 200)
    })
  )

  it.effect("patch refuses other names and other keys", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, portfolioId } = yield* enrolledUser()
      for (const portfolioName of ["", "   ", "x".repeat(65), "a<b", "a\nb", "a@b", 1]) {
        assertError(
          yield* call("PATCH", `/v2/portfolios/${portfolioId}`, { key, body: { portfolioName } }),
          ValidationFailed,
          "portfolioName: "
        )
      }
      for (const [name, value] of Object.entries({ name: "x", strategyId: "x", schedule: {} })) {
        assertError(
          yield* call("PATCH", `/v2/portfolios/${portfolioId}`, { key, body: { [name]: value } }),
          ValidationFailed,
          `${name}: `
        )
      }
    })
  )

  it.effect("the list filters by owner in any case, by strategy and by status", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const actor = yield* newTenant()
      const [first, second] = [yield* newStrategy(actor), yield* newStrategy(actor)]
      const owner = newOwner()
      const body = yield* prepare(actor, first, owner)
      const { portfolioId } = (yield* call("POST", "/v2/enroll", { key: actor.key, body })).json.data
      const other = yield* enroll(actor, second)
      yield* call("POST", `/v2/portfolios/${other.portfolioId}/stop`, { key: actor.key })
      const ids = Effect.fnUntraced(function* (query: string) {
        const answer = yield* call("GET", `/v2/portfolios?${query}`, { key: actor.key })
        assert.strictEqual(answer.status, 200, answer.text)
        return answer.json.data.portfolios.map((portfolio: { readonly portfolioId: string }) => portfolio.portfolioId)
      })
      assert.deepStrictEqual(yield* ids(""), [other.portfolioId, portfolioId])
      assert.deepStrictEqual(yield* ids(`ownerAccountId=${owner}`), [portfolioId])
      assert.deepStrictEqual(yield* ids(`ownerAccountId=${owner.toLowerCase()}`), [portfolioId])
      assert.deepStrictEqual(yield* ids(`strategyId=${second}`), [other.portfolioId])
      assert.deepStrictEqual(yield* ids("status=active"), [portfolioId])
      assert.deepStrictEqual(yield* ids("status=paused"), [other.portfolioId])
      assert.deepStrictEqual(yield* ids(`status=paused&strategyId=${first}`), [])
    })
  )

  for (const query of [
    "ownerAccountId=0x52908400098527886E0F7030069857D2E4169EE7",
    "status=stopped",
    "strategyId=x",
    "limit=201"
  ]) {
    it.effect(`the list refuses ${query}`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const { key } = yield* newTenant()
        assertError(
          yield* call("GET", `/v2/portfolios?${query}`, { key }),
          ValidationFailed,
          `${query.split("=")[0]}: `
        )
      })
    )
  }

  it.effect("pages go through all portfolios, each once", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const actor = yield* newTenant()
      const strategyId = yield* newStrategy(actor)
      const made: Array<string> = []
      for (let index = 0; index < 3; index++) made.unshift((yield* enroll(actor, strategyId)).portfolioId)
      const first = (yield* call("GET", "/v2/portfolios?limit=2", { key: actor.key })).json
      const last = (yield* call("GET", `/v2/portfolios?limit=2&cursor=${first.nextCursor}`, { key: actor.key })).json
      const ids = [...first.data.portfolios, ...last.data.portfolios].map(({ portfolioId }) => portfolioId)
      assert.deepStrictEqual(ids, made)
      assert.isNull(last.nextCursor)
    })
  )

  it.effect("say of each account whether it is under the guard or an old permission, and are listed by that", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const environment = yield* TestEnvironment
      const actor = yield* newTenant()
      const strategyId = yield* newStrategy(actor)
      environment.isGuarded = false
      const old = yield* enroll(actor, strategyId)
      environment.isGuarded = true
      const current = yield* enroll(actor, strategyId)
      const path = `/v2/portfolios/${old.portfolioId}`
      const listed = Effect.fnUntraced(function* (query: string) {
        const { json } = yield* call("GET", `/v2/portfolios?${query}`, { key: actor.key })
        return json.data.portfolios.map(({ portfolioId }: { readonly portfolioId: string }) => portfolioId)
      })
      const permissions = Effect.fnUntraced(function* () {
        const { json } = yield* call("GET", path, { key: actor.key })
        return json.data.smartAccounts.map(({ permission }: { readonly permission: string }) => permission)
      })
      assert.deepStrictEqual(yield* permissions(), ["call_policy", "call_policy"])
      assert.deepStrictEqual(yield* listed("permission=call_policy"), [old.portfolioId])
      assert.deepStrictEqual(yield* listed("permission=guard&status=active"), [current.portfolioId])
      for (const [chainIds, kept] of [
        [[8453], ["guard", "call_policy"]],
        [[42161], ["guard", "guard"]]
      ] as const) {
        const stage1 = yield* call("POST", `${path}/resign/signature`, { key: actor.key, body: { chainIds } })
        const { accountIndex, agentAccountId, flowId } = stage1.json.data
        const body = { chainIds, accountIndex, agentAccountId, flowId, signature: ownerSignature }
        const { status } = yield* call("POST", `${path}/resign`, { key: actor.key, body })
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(yield* permissions(), kept)
      }
      assert.deepStrictEqual(yield* listed("permission=call_policy"), [])
      assert.deepStrictEqual(yield* listed("permission=guard"), [current.portfolioId, old.portfolioId])
      const refused = yield* call("GET", "/v2/portfolios?permission=none", { key: actor.key })
      assertError(refused, ValidationFailed, "permission: ")
    })
  )
})

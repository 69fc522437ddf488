/** Strategies that go: docs/decisions/0201-archived-strategies.md. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { NotFound, ValidationFailed } from "#domain/errors/Errors.ts"
import { enroll, enrolledUser, newStrategy, newTenant, prepare } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertError } from "#test/api/support/assertions.ts"

const listed = Effect.fnUntraced(function* (key: string, query = "") {
  const { json } = yield* (yield* Api).call("GET", `/v2/strategies${query}`, { key })
  return json.data.strategies.map((strategy: any) => strategy.strategyId) as ReadonlyArray<string>
})

const eventsOf = Effect.fnUntraced(function* (key: string) {
  const { json } = yield* (yield* Api).call("GET", "/v2/events?limit=200", { key })
  return json.data.events.map((event: any) => event.type) as ReadonlyArray<string>
})

const remove = (key: string, strategyId: string) =>
  Effect.flatMap(Api, ({ call }) => call("DELETE", `/v2/strategies/${strategyId}`, { key }))

const restore = (key: string, strategyId: string) =>
  Effect.flatMap(Api, ({ call }) => call("POST", `/v2/strategies/${strategyId}/restore`, { key }))

layer(ApiLive, { excludeTestServices: true })("a strategy that goes", (it) => {
  it.effect("is deleted when nothing uses it, with its versions and its labels", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const sql = yield* SqlClient.SqlClient
      const actor = yield* newTenant()
      const strategyId = yield* newStrategy(actor, { externalId: "gone", metadata: { a: "b" }, isPublic: true })
      yield* call("PUT", `/v2/strategies/${strategyId}/schedule`, {
        key: actor.key,
        body: { type: "interval", frequency: "hourly" }
      })
      const answer = yield* remove(actor.key, strategyId)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepStrictEqual(answer.json.data, { strategyId, outcome: "deleted" })
      assertError(yield* call("GET", `/v2/strategies/${strategyId}`, { key: actor.key }), NotFound)
      assertError(yield* remove(actor.key, strategyId), NotFound)
      for (const table of ["strategy_versions", "strategy_metadata", "discovery_entries", "cadence_changes"]) {
        const rows = yield* sql.unsafe(`SELECT 1 FROM ${table} WHERE strategy_id = $1`, [strategyId])
        assert.lengthOf(rows, 0, table)
      }
      assert.include(yield* eventsOf(actor.key), "strategy.deleted")
      yield* newStrategy(actor, { externalId: "gone" })
    })
  )

  it.effect("is archived when users are in it: their portfolios go on, nobody is enrolled, lists leave it out", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const user = yield* enrolledUser()
      const { key, portfolioId, strategyId } = user
      const other = yield* newStrategy(user)
      const begun = yield* prepare(user, strategyId)
      const answer = yield* remove(key, strategyId)
      assert.deepStrictEqual(answer.json.data, { strategyId, outcome: "archived" })
      assert.deepStrictEqual((yield* remove(key, strategyId)).json.data, { strategyId, outcome: "archived" })

      assert.deepStrictEqual(yield* listed(key), [other])
      assert.deepStrictEqual(yield* listed(key, "?archived=only"), [strategyId])
      assert.deepStrictEqual(yield* listed(key, "?archived=include"), [other, strategyId])
      const read = yield* call("GET", `/v2/strategies/${strategyId}`, { key })
      assert.isString(read.json.data.archivedAt)

      const request = { ownerAccountId: begun.ownerAccountId, strategyId, chainIds: [8453] }
      const stage1 = yield* call("POST", "/v2/enroll/signature", { key, body: request })
      assertError(stage1, ValidationFailed, `strategyId: ${strategyId} is archived`)
      const stage2 = yield* call("POST", "/v2/enroll", { key, body: begun })
      assertError(stage2, ValidationFailed, `strategyId: ${strategyId} is archived`)

      const rebalanced = yield* call("POST", `/v2/portfolios/${portfolioId}/rebalance`, { key })
      assert.strictEqual(rebalanced.status, 202, rebalanced.text)
      const published = yield* call("PATCH", `/v2/strategies/${strategyId}`, { key, body: { name: "Still mine" } })
      assert.strictEqual(published.status, 200)

      const restored = yield* restore(key, strategyId)
      assert.strictEqual(restored.status, 200, restored.text)
      assert.notProperty(restored.json.data, "archivedAt")
      assert.strictEqual((yield* restore(key, strategyId)).status, 200)
      assert.deepStrictEqual(yield* listed(key), [other, strategyId])
      // What was signed before counts again.
      assert.strictEqual((yield* call("POST", "/v2/enroll", { key, body: begun })).status, 201)
      const events = yield* eventsOf(key)
      assert.deepStrictEqual(
        events.filter((type) => /^strategy\.(archived|restored|deleted)$/.test(type)),
        ["strategy.archived", "strategy.restored"]
      )
    })
  )

  it.effect("is archived when only an enrollment has begun", () =>
    Effect.gen(function* () {
      const actor = yield* newTenant()
      const strategyId = yield* newStrategy(actor)
      yield* prepare(actor, strategyId)
      assert.strictEqual((yield* remove(actor.key, strategyId)).json.data.outcome, "archived")
    })
  )

  it.effect("leaves discovery when it is archived, comes back when it is restored, and mirroring users go on", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const sql = yield* SqlClient.SqlClient
      const creator = yield* newTenant()
      const strategyId = yield* newStrategy(creator, { isPublic: true })
      const mirror = yield* newTenant()
      const { portfolioId } = yield* enroll(mirror, strategyId)
      const isListed = Effect.map(
        sql`SELECT 1 FROM discovery_entries WHERE strategy_id = ${strategyId}`,
        (rows) => rows.length === 1
      )
      assert.isTrue(yield* isListed)
      yield* remove(creator.key, strategyId)
      assert.isFalse(yield* isListed)
      // The operator's decision does not bring it back.
      yield* sql`UPDATE strategies SET can_mirror = false WHERE strategy_id = ${strategyId}`
      yield* sql`UPDATE strategies SET can_mirror = true WHERE strategy_id = ${strategyId}`
      assert.isFalse(yield* isListed)
      const followed = yield* call("GET", `/v2/portfolios/${portfolioId}`, { key: mirror.key })
      assert.strictEqual(followed.json.data.schedule.status, "active")
      yield* restore(creator.key, strategyId)
      assert.isTrue(yield* isListed)
    })
  )

  it.effect("is its creator's to archive and to restore", () =>
    Effect.gen(function* () {
      const strategyId = yield* newStrategy(yield* newTenant(), { isPublic: true })
      const { key } = yield* newTenant()
      assertError(yield* remove(key, strategyId), NotFound)
      assertError(yield* restore(key, strategyId), NotFound)
    })
  )

  it.effect("keeps its versions unchangeable while it is there", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const strategyId = yield* newStrategy(yield* newTenant())
      for (const statement of [
        sql`DELETE FROM strategy_versions WHERE strategy_id = ${strategyId}`,
        sql`UPDATE strategy_versions SET change_log = 'x' WHERE strategy_id = ${strategyId}`
      ])
        assert.strictEqual((yield* Effect.exit(statement))._tag, "Failure")
    })
  )
})

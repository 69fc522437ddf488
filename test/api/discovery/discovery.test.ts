import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { OpenApi } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { CursorInvalid, ValidationFailed } from "#domain/errors/Errors.ts"
import { V2 } from "#http/v2/Api.ts"
import { newStrategy, newTenant, readOnlyKey } from "#test/api/support/actors.ts"
import { type Answer, Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError, isoTime } from "#test/api/support/assertions.ts"

const path = "/v2/discovery/strategies"
const fields = ["strategyId", "name", "description", "allocation", "createdAt", "canMirror", "metrics"]

const idsOf = ({ json }: Answer): ReadonlyArray<string> =>
  json.data.strategies.map(({ strategyId }: { readonly strategyId: string }) => strategyId)

/** A tenant that reads, and public strategies of another one, the only ones that there are. */
const world = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE strategies SET is_public = false`
  yield* sql`UPDATE discovery_analytics SET measured_at = ${DateTime.toDateUtc(yield* DateTime.now)}`
  const owner = yield* newTenant()
  const strategyIds: Array<string> = []
  for (let n = 0; n < count; n++) strategyIds.push(yield* newStrategy(owner, { name: `S${n}`, isPublic: true }))
  const { call } = yield* Api
  const { key } = yield* newTenant()
  const get = (query: string) => call("GET", `${path}?${query}`, { key })
  return { sql, strategyIds, get, key, call }
})

const curate = (strategyIds: ReadonlyArray<string>) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      INSERT INTO curated_strategies (position, strategy_id)
      SELECT position, id FROM unnest(${strategyIds}::text[]) WITH ORDINALITY AS listed (id, position)`
  ).pipe(Effect.andThen(Effect.void))

const uncurate = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DELETE FROM curated_strategies`)

layer(ApiLive, { excludeTestServices: true })("discovery", (it) => {
  it.effect("answers items in the wire's formats", () =>
    Effect.gen(function* () {
      const { sql, get, strategyIds, call, key } = yield* world(1)
      const windows = [
        { window: "1d", percentChange: "0.123450000000000000", since: "2026-03-01" },
        { window: "12m", percentChange: "-12.000050000000000000", since: "2025-03-02" }
      ]
      yield* sql`UPDATE strategies SET max_apy = 9.5 WHERE strategy_id = ${strategyIds[0]!}`
      yield* sql`
        UPDATE discovery_entries SET tvl_usd = 1234.569, inflows_7d_usd = -5, users = 7, portfolio_count = 8,
          windows = ${JSON.stringify(windows)}::jsonb`
      const answer = yield* get("collection=top_performing")
      assertData(answer, 200, ["strategies"])
      assert.deepStrictEqual(Object.keys(answer.json), ["success", "data", "nextCursor"])
      assert.isNull(answer.json.nextCursor)
      const [item] = answer.json.data.strategies
      assert.sameMembers(Object.keys(item), [...fields, "maxApy"])
      const read = (yield* call("GET", `/v2/strategies/${strategyIds[0]}`, { key })).json.data
      for (const field of ["strategyId", "name", "description", "allocation", "createdAt"]) {
        assert.deepStrictEqual(item[field], read[field])
      }
      assert.match(item.createdAt, isoTime)
      assert.strictEqual(item.maxApy, "9.50")
      assert.isTrue(item.canMirror)
      assert.deepStrictEqual(item.metrics, {
        tvlUsd: "1234.56",
        portfolioCount: 8,
        performance: {
          summary: {
            windows: [
              { window: "1d", percentChange: "0.1235", since: "2026-03-01" },
              { window: "12m", percentChange: "-12.0001", since: "2025-03-02" }
            ]
          }
        }
      })
    })
  )

  it.effect("distinguishes unknown from zero, and leaves out a yield that is not advertised", () =>
    Effect.gen(function* () {
      const { sql, get } = yield* world(1)
      const metricsNow = Effect.map(get("collection=top_performing"), ({ json }) => json.data.strategies[0])
      const performance = { summary: { windows: [] } }
      const born = yield* metricsNow
      assert.sameMembers(Object.keys(born), fields)
      assert.deepStrictEqual(born.metrics, { tvlUsd: "0.00", portfolioCount: 0, performance })
      yield* sql`UPDATE discovery_entries SET tvl_usd = NULL`
      assert.deepStrictEqual((yield* metricsNow).metrics, { tvlUsd: null, portfolioCount: 0, performance })
      const old = DateTime.subtract(yield* DateTime.now, { hours: 1 })
      yield* sql`UPDATE discovery_analytics SET measured_at = ${DateTime.toDateUtc(old)}`
      const unknown = { tvlUsd: null, portfolioCount: null, performance }
      assert.deepStrictEqual((yield* metricsNow).metrics, unknown)
      yield* sql`UPDATE discovery_analytics SET measured_at = NULL`
      assert.deepStrictEqual((yield* metricsNow).metrics, unknown)
    })
  )

  it.effect("ranks by what is asked for, by value when nothing is", () =>
    Effect.gen(function* () {
      const { sql, get, strategyIds } = yield* world(4)
      const [a, b, c, d] = strategyIds as [string, string, string, string]
      const numbers: ReadonlyArray<readonly [string, number | null, number, number]> = [
        [a, 3, -1, 1],
        [b, 1, 5, 0],
        [c, null, 2, 9],
        [d, 2, 0, 4]
      ]
      for (const [id, tvl, inflows, users] of numbers) {
        yield* sql`
          UPDATE discovery_entries SET tvl_usd = ${tvl}::numeric, inflows_7d_usd = ${inflows}::numeric,
            users = ${users}::int WHERE strategy_id = ${id}`
      }
      assert.deepStrictEqual(idsOf(yield* get("collection=top_performing")), [a, d, b, c])
      assert.deepStrictEqual(idsOf(yield* get("collection=top_performing&sort=tvl.desc")), [a, d, b, c])
      assert.deepStrictEqual(idsOf(yield* get("collection=top_performing&sort=inflows7d.desc")), [b, c, d, a])
      assert.deepStrictEqual(idsOf(yield* get("collection=top_performing&sort=users.desc")), [c, d, a, b])
    })
  )

  it.effect("pages go through each collection once, and the last has no cursor", () =>
    Effect.gen(function* () {
      const { sql, get, strategyIds } = yield* world(5)
      for (const [index, id] of strategyIds.entries()) {
        yield* sql`UPDATE discovery_entries SET users = ${index % 2}::int WHERE strategy_id = ${id}`
      }
      yield* curate(strategyIds)
      for (const first of ["collection=curated", "collection=top_performing&sort=users.desc"]) {
        const seen: Array<string> = []
        let cursor: string | null = null
        for (let pages = 0; pages < 9; pages += 1) {
          // The sort is left out on follow-up pages: the cursor contains it.
          const query: string = cursor === null ? first : `${first.split("&")[0]}&cursor=${cursor}`
          const answer: Answer = yield* get(`${query}&limit=2`)
          assert.strictEqual(answer.status, 200, answer.text)
          seen.push(...idsOf(answer))
          cursor = answer.json.nextCursor
          if (cursor === null) break
        }
        assert.strictEqual(seen.length, 5, first)
        assert.sameMembers(seen, strategyIds)
        if (first === "collection=curated") assert.deepStrictEqual(seen, strategyIds)
        else assert.deepStrictEqual(seen.slice(0, 2), [strategyIds[3]!, strategyIds[1]!])
      }
      yield* uncurate
    })
  )

  it.effect("a cursor keeps its sort: the same may be sent with it, another may not", () =>
    Effect.gen(function* () {
      const { get } = yield* world(3)
      const { nextCursor } = (yield* get("collection=top_performing&sort=users.desc&limit=1")).json
      const follow = `collection=top_performing&limit=1&cursor=${nextCursor}`
      const plain = yield* get(follow)
      assert.deepStrictEqual(idsOf(yield* get(`${follow}&sort=users.desc`)), idsOf(plain))
      for (const sort of ["tvl.desc", "inflows7d.desc"]) {
        assertError(yield* get(`${follow}&sort=${sort}`), ValidationFailed, "sort: ")
      }
      const other = (yield* get("collection=top_performing&limit=1")).json.nextCursor
      assertError(
        yield* get(`collection=top_performing&sort=users.desc&cursor=${other}`),
        ValidationFailed,
        "sort: is users.desc, and the cursor was issued for tvl.desc"
      )
    })
  )

  it.effect("a cursor of another collection or list, or none at all, is refused", () =>
    Effect.gen(function* () {
      const { get, strategyIds, key, call } = yield* world(2)
      yield* curate(strategyIds)
      const ranked = (yield* get("collection=top_performing&limit=1")).json.nextCursor
      const curated = (yield* get("collection=curated&limit=1")).json.nextCursor
      yield* uncurate
      assertError(yield* get(`collection=curated&cursor=${ranked}`), CursorInvalid, "cursor: ")
      assertError(yield* get(`collection=top_performing&cursor=${curated}`), CursorInvalid, "cursor: ")
      // Another collection's cursor is that first, whatever sort comes with it.
      assertError(yield* get(`collection=top_performing&sort=users.desc&cursor=${curated}`), CursorInvalid)
      assertError(yield* call("GET", `/v2/strategies?cursor=${ranked}`, { key }), CursorInvalid)
      const actor = yield* newTenant()
      yield* newStrategy(actor)
      yield* newStrategy(actor)
      const list = (yield* call("GET", "/v2/strategies?limit=1", { key: actor.key })).json.nextCursor
      for (const cursor of [list, "x", "%00", "e30", "", "x".repeat(600)]) {
        assertError(yield* get(`collection=top_performing&cursor=${cursor}`), CursorInvalid)
        assertError(yield* get(`collection=curated&cursor=${cursor}`), CursorInvalid)
      }
      assert.strictEqual((yield* call("GET", `${path}?collection=curated`, { key })).status, 200)
    })
  )

  const refused: ReadonlyArray<readonly [query: string, detail: string]> = [
    ["", "collection: "],
    ["collection=", "collection: "],
    ["collection=all", "collection: "],
    ["collection=curated&collection=curated", "collection: "],
    ["collection=top_performing&sort=apy.desc", "sort: "],
    ["collection=top_performing&sort=tvl.asc", "sort: "],
    ["collection=top_performing&sort=", "sort: "],
    ["collection=curated&sort=apy.desc", "sort: "],
    ...["0", "51", "-1", "1.5", "abc", "", "1e1000"].flatMap((limit): ReadonlyArray<readonly [string, string]> => [
      [`collection=curated&limit=${limit}`, "limit: "],
      [`collection=top_performing&limit=${limit}`, "limit: "]
    ])
  ]
  for (const [query, detail] of refused) {
    it.effect(`?${query} is refused`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const { key } = yield* newTenant()
        assertError(yield* call("GET", `${path}?${query}`, { key }), ValidationFailed, detail)
      })
    )
  }

  it("the published limit is 1 to 50, and 50 when left out", () => {
    const document: any = JSON.parse(JSON.stringify(OpenApi.fromApi(V2)))
    const { parameters } = document.paths[path].get
    const limit = parameters.find(({ name }: { readonly name: string }) => name === "limit")
    assert.deepInclude(limit.schema, { type: "integer", minimum: 1, maximum: 50, default: 50 })
    const required = parameters.filter((parameter: { readonly required: boolean }) => parameter.required)
    assert.deepStrictEqual(
      required.map(({ name }: { readonly name: string }) => name),
      ["collection"]
    )
  })

  it.effect("a valid sort is ignored for curated, and the limits themselves are allowed", () =>
    Effect.gen(function* () {
      const { get } = yield* world(0)
      for (const query of ["sort=users.desc", "limit=1", "limit=50"]) {
        const answer = yield* get(`collection=curated&${query}`)
        assertData(answer, 200, ["strategies"])
        assert.deepStrictEqual(answer.json.data.strategies, [])
        assert.isNull(answer.json.nextCursor)
      }
    })
  )

  it.effect("any valid key may read, and gets 50 strategies when it names no limit", () =>
    Effect.gen(function* () {
      const { sql, call, strategyIds } = yield* world(1)
      yield* sql`
        INSERT INTO strategies (strategy_id, tenant_id, name, frequency, is_public, can_mirror, head_version,
          created_at)
        SELECT '01JQ8ZKX4V6T3M9N2C5B7D' || lpad(n::text, 4, '0'), tenant_id, name, frequency, true, true, 1, created_at
        FROM strategies, generate_series(1, 50) n WHERE strategy_id = ${strategyIds[0]!}`
      yield* sql`
        INSERT INTO strategy_versions (strategy_id, version, allocation, created_at)
        SELECT '01JQ8ZKX4V6T3M9N2C5B7D' || lpad(n::text, 4, '0'), 1, allocation, created_at
        FROM strategy_versions, generate_series(1, 50) n WHERE strategy_id = ${strategyIds[0]!}`
      const key = yield* readOnlyKey(yield* newTenant())
      yield* sql`UPDATE api_keys SET scopes = '{}' WHERE api_key_id IN (SELECT api_key_id FROM api_keys
        ORDER BY created_at DESC LIMIT 1)`
      const answer = yield* call("GET", `${path}?collection=top_performing`, { key })
      assert.strictEqual(answer.json.data.strategies.length, 50)
      assert.isString(answer.json.nextCursor)
    })
  )
})

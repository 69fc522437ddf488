import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Base64Url } from "effect/encoding"
import { CursorInvalid, NotFound, ValidationFailed } from "#domain/errors/Errors.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"
import { type Actor, enroll, fillCatalogue, newStrategy, newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError, isoTime } from "#test/api/support/assertions.ts"
import { baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"

const fields = ["version", "allocation", "changeLog", "isHead", "createdAt"]

const split = (usdc: string, weth: string) => ({
  assets: [
    { assetId: baseUsdc.assetId, weight: usdc },
    { assetId: baseWeth.assetId, weight: weth }
  ]
})

const publish = ({ key }: Actor, strategyId: string, body: Record<string, unknown>) =>
  Effect.flatMap(Api, ({ call }) => call("POST", `/v2/strategies/${strategyId}/versions`, { key, body }))

const list = ({ key }: Actor, strategyId: string, query = "") =>
  Effect.flatMap(Api, ({ call }) => call("GET", `/v2/strategies/${strategyId}/versions${query}`, { key }))

const versionsOf = (answer: { readonly json: any }): ReadonlyArray<number> =>
  answer.json.data.versions.map(({ version }: { readonly version: number }) => version)

layer(ApiLive, { excludeTestServices: true })("strategy versions", (it) => {
  it.effect("a publication answers the new head, and the strategy and the list show it", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const actor = yield* newTenant()
      const strategyId = yield* newStrategy(actor)
      const answer = yield* publish(actor, strategyId, { allocation: split("10", "90"), changeLog: "More ether." })
      assertData(answer, 201, fields)
      const { createdAt, ...rest } = answer.json.data
      assert.match(createdAt, isoTime)
      assert.deepStrictEqual(rest, {
        version: 2,
        allocation: split("10.00", "90.00"),
        changeLog: "More ether.",
        isHead: true
      })
      const strategy = (yield* call("GET", `/v2/strategies/${strategyId}`, { key: actor.key })).json.data
      assert.strictEqual(strategy.version, 2)
      assert.deepStrictEqual(strategy.allocation, split("10.00", "90.00"))
      const listed = yield* list(actor, strategyId)
      assert.deepStrictEqual(Object.keys(listed.json), ["success", "data", "nextCursor"])
      assertData(listed, 200, ["versions"])
      assert.deepStrictEqual(listed.json.data.versions[0], answer.json.data)
      const first = listed.json.data.versions[1]
      assert.sameMembers(Object.keys(first), fields)
      assert.strictEqual(first.version, 1)
      assert.isFalse(first.isHead)
      assert.isNull(first.changeLog)
      assert.strictEqual(first.createdAt, strategy.createdAt)
      assert.strictEqual(listed.json.data.versions.length, 2)
      assert.isNull(listed.json.nextCursor)
    })
  )

  it.effect("the change log may be left out, null, or 500 characters long", () =>
    Effect.gen(function* () {
      const actor = yield* newTenant()
      const strategyId = yield* newStrategy(actor)
      const allocation = split("50", "50")
      assert.isNull((yield* publish(actor, strategyId, { allocation })).json.data.changeLog)
      assert.isNull((yield* publish(actor, strategyId, { allocation, changeLog: null })).json.data.changeLog)
      const long = "\u{1f680}".repeat(500)
      assert.strictEqual((yield* publish(actor, strategyId, { allocation, changeLog: long })).json.data.changeLog, long)
    })
  )

  const refused: ReadonlyArray<readonly [what: string, body: Record<string, unknown>, detail: string]> = [
    ["no allocation", { changeLog: "x" }, "allocation: "],
    ["a number of its own", { allocation: split("50", "50"), version: 7 }, "version: "],
    ["a name", { allocation: split("50", "50"), name: "x" }, "name: "],
    ["a schedule", { allocation: split("50", "50"), schedule: { type: "interval", frequency: "daily" } }, "schedule: "],
    ["preferences", { allocation: split("50", "50"), preferences: {} }, "preferences: "],
    ["a long change log", { allocation: split("50", "50"), changeLog: "x".repeat(501) }, "changeLog: "],
    ["a wrong sum", { allocation: split("50", "49.99") }, "allocation.assets: weights sum to 99.99"],
    [
      "an unknown asset",
      {
        allocation: {
          assets: [{ assetId: "eip155:8453/erc20:0x52908400098527886E0F7030069857D2E4169EE7", weight: "100" }]
        }
      },
      "allocation.assets.0.assetId: unknown asset"
    ],
    [
      "an asset twice",
      { allocation: { assets: [...split("50", "10").assets, { assetId: baseUsdc.assetId, weight: "40" }] } },
      "allocation.assets.2.assetId: duplicate"
    ]
  ]

  for (const [what, body, detail] of refused) {
    it.effect(`a publication with ${what} is refused and leaves no version`, () =>
      Effect.gen(function* () {
        const actor = yield* newTenant()
        const strategyId = yield* newStrategy(actor)
        assertError(yield* publish(actor, strategyId, body), ValidationFailed, detail)
        assert.deepStrictEqual(versionsOf(yield* list(actor, strategyId)), [1])
      })
    )
  }

  it.effect("a blocked asset is refused, though an earlier version holds it", () =>
    Effect.gen(function* () {
      yield* fillCatalogue
      const assets = yield* AssetStore
      const actor = yield* newTenant()
      const allocation = { assets: [{ assetId: baseBtc.assetId, weight: "100" }] }
      const strategyId = yield* newStrategy(actor, { allocation })
      yield* assets.upsertAssets([{ ...baseBtc, isBlocked: true }])
      const answer = yield* publish(actor, strategyId, { allocation }).pipe(
        Effect.ensuring(assets.upsertAssets([baseBtc]))
      )
      assertError(answer, ValidationFailed, "allocation.assets.0.assetId: blocked asset")
    })
  )

  it.effect("concurrent publications each get a number, and exactly one is head", () =>
    Effect.gen(function* () {
      const actor = yield* newTenant()
      const strategyId = yield* newStrategy(actor)
      const answers = yield* Effect.replicateEffect(publish(actor, strategyId, { allocation: split("50", "50") }), 20, {
        concurrency: "unbounded"
      })
      assert.isTrue(answers.every(({ status }) => status === 201))
      const numbers = answers.map(({ json }) => json.data.version).sort((a, b) => a - b)
      assert.deepStrictEqual(
        numbers,
        Array.from({ length: 20 }, (_, n) => n + 2)
      )
      const { versions } = (yield* list(actor, strategyId)).json.data
      assert.deepStrictEqual(
        versions.filter(({ isHead }: { readonly isHead: boolean }) => isHead).map((one: any) => one.version),
        [21]
      )
    })
  )

  it.effect("pages go through all versions, newest first, each once", () =>
    Effect.gen(function* () {
      const actor = yield* newTenant()
      const strategyId = yield* newStrategy(actor)
      for (let n = 2; n <= 5; n++) yield* publish(actor, strategyId, { allocation: split(String(n), String(100 - n)) })
      const seen: Array<number> = []
      let cursor: string | null = null
      do {
        const query: string = cursor === null ? "?limit=2" : `?limit=2&cursor=${cursor}`
        const answer: { readonly json: any } = yield* list(actor, strategyId, query)
        seen.push(...versionsOf(answer))
        cursor = answer.json.nextCursor
        // A version that is published between two pages is above both.
        if (seen.length === 2) yield* publish(actor, strategyId, { allocation: split("50", "50") })
      } while (cursor !== null)
      assert.deepStrictEqual(seen, [5, 4, 3, 2, 1])
    })
  )

  it.effect("limits out of range, and cursors of other lists or nobody's, are refused", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const actor = yield* newTenant()
      const [strategyId, other] = [yield* newStrategy(actor), yield* newStrategy(actor)]
      for (const limit of ["0", "201", "x"]) {
        assertError(yield* list(actor, strategyId, `?limit=${limit}`), ValidationFailed, "limit: ")
      }
      yield* publish(actor, other, { allocation: split("50", "50") })
      const foreign = (yield* list(actor, other, "?limit=1")).json.nextCursor
      const strategies = (yield* call("GET", "/v2/strategies?limit=1", { key: actor.key })).json.nextCursor
      const written = ["0", "-1", "1e3", "9999999999", "abc"].map((i) =>
        Base64Url.encode(JSON.stringify({ l: `versions/${strategyId}`, c: "2026-03-02T09:30:00.000Z", i }))
      )
      for (const cursor of [foreign, strategies, "x", ...written]) {
        assertError(yield* list(actor, strategyId, `?cursor=${cursor}`), CursorInvalid)
      }
    })
  )

  it.effect("versions of a public strategy are read by anybody, of a private one by its creator alone", () =>
    Effect.gen(function* () {
      const [owner, stranger] = [yield* newTenant(), yield* newTenant()]
      const open = yield* newStrategy(owner, { isPublic: true })
      const closed = yield* newStrategy(owner)
      assert.strictEqual((yield* list(stranger, open)).text, (yield* list(owner, open)).text)
      assertError(yield* list(stranger, closed), NotFound)
      assertError(yield* list(stranger, "01JQ8ZKX4V6T3M9N2C5B7D8F0G"), NotFound)
      assertError(yield* list(stranger, "x"), ValidationFailed, "strategyId: ")
      assertError(yield* publish(owner, "x", { allocation: split("50", "50") }), ValidationFailed, "strategyId: ")
    })
  )

  it.effect("a publication leaves the version of portfolios as it was until their next run", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const actor = yield* newTenant()
      const strategyId = yield* newStrategy(actor)
      const { portfolioId } = yield* enroll(actor, strategyId)
      yield* publish(actor, strategyId, { allocation: split("50", "50") })
      const { json } = yield* call("GET", `/v2/portfolios/${portfolioId}`, { key: actor.key })
      assert.strictEqual(json.data.strategyVersion, 1)
    })
  )
})

import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { CursorInvalid, NotFound, ValidationFailed } from "#domain/errors/Errors.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"
import { fillCatalogue, newStrategy, newTenant, strategyBody } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError, isoTime } from "#test/api/support/assertions.ts"
import { strategyFields } from "#test/api/support/strategyFields.ts"
import { baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"

const one = (assetId: string, weight = "100") => ({ assets: [{ assetId, weight }] })

layer(ApiLive, { excludeTestServices: true })("strategies", (it) => {
  it.effect("create stores what was sent and answers it in the wire's formats", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      yield* fillCatalogue
      const { key } = yield* newTenant()
      const created = yield* call("POST", "/v2/strategies", { key, body: strategyBody })
      assertData(created, 201, strategyFields)
      const { strategyId, createdAt, ...rest } = created.json.data
      assert.match(strategyId, /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
      assert.match(createdAt, isoTime)
      assert.deepStrictEqual(rest, {
        ...strategyBody,
        allocation: {
          assets: strategyBody.allocation.assets.map(({ assetId }, index) => ({
            assetId,
            weight: ["40.00", "35.50", "24.50"][index]
          }))
        },
        version: 1
      })
      const read = yield* call("GET", `/v2/strategies/${strategyId}`, { key })
      assert.strictEqual(read.status, 200)
      assert.deepStrictEqual(read.json.data, created.json.data)
    })
  )

  it.effect("what is left out gets its default, and the three preferences are always there", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      yield* fillCatalogue
      const { key } = yield* newTenant()
      const { name, allocation, schedule } = strategyBody
      const { json } = yield* call("POST", "/v2/strategies", { key, body: { name, allocation, schedule } })
      assert.isNull(json.data.description)
      assert.isFalse(json.data.isPublic)
      assert.deepStrictEqual(json.data.preferences, {
        swap: { slippageBps: null, priceImpactBps: null, thresholdUsd: null }
      })
      const partial = yield* call("POST", "/v2/strategies", {
        key,
        body: { name, allocation, schedule, preferences: { swap: { priceImpactBps: 300 } } }
      })
      assert.deepStrictEqual(partial.json.data.preferences, {
        swap: { slippageBps: null, priceImpactBps: 300, thresholdUsd: null }
      })
    })
  )

  it.effect("an asset id is answered in its canonical spelling", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      yield* fillCatalogue
      const { key } = yield* newTenant()
      const body = { ...strategyBody, allocation: one(baseUsdc.assetId.toLowerCase()) }
      const { json } = yield* call("POST", "/v2/strategies", { key, body })
      assert.strictEqual(json.data.allocation.assets[0].assetId, baseUsdc.assetId)
    })
  )

  const refused: ReadonlyArray<
    readonly [what: string, changes: Record<string, unknown>, ...details: ReadonlyArray<string>]
  > = [
    ["an unknown key", { strategyId: "x" }, "strategyId: "],
    ["an unknown key deep inside", { schedule: { type: "interval", frequency: "daily", at: "noon" } }, "schedule.at: "],
    ["an empty name", { name: "" }, "name: "],
    ["a long name", { name: "x".repeat(257) }, "name: "],
    ["a name with a NUL", { name: "a\u0000b" }, "name: "],
    ["half a character", { name: "\ud800" }, "name: "],
    ["a long description", { description: "x".repeat(2001) }, "description: "],
    ["no schedule", { schedule: undefined }, "schedule: "],
    ["an unknown frequency", { schedule: { type: "interval", frequency: "yearly" } }, "schedule.frequency: "],
    ["an unknown kind of schedule", { schedule: { type: "cron", frequency: "daily" } }, "schedule.type: "],
    ["no assets", { allocation: { assets: [] } }, "allocation.assets: "],
    [
      "too many assets",
      { allocation: { assets: Array.from({ length: 51 }, () => ({ assetId: baseUsdc.assetId, weight: "1" })) } },
      "allocation.assets: "
    ],
    [
      "a number as weight",
      { allocation: { assets: [{ assetId: baseUsdc.assetId, weight: 100 }] } },
      "allocation.assets.0.weight: "
    ],
    ["three decimals", { allocation: one(baseUsdc.assetId, "99.999") }, "allocation.assets.0.weight: "],
    ["a zero weight", { allocation: one(baseUsdc.assetId, "0") }, "allocation.assets.0.weight: "],
    [
      "a bare address",
      { allocation: one("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913") },
      "allocation.assets.0.assetId: "
    ],
    [
      "a wrong checksum",
      { allocation: one("eip155:8453/erc20:0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913") },
      "allocation.assets.0.assetId: "
    ],
    [
      "an unknown asset",
      { allocation: one("eip155:8453/erc20:0x52908400098527886E0F7030069857D2E4169EE7") },
      "allocation.assets.0.assetId: unknown asset"
    ],
    [
      "an asset of a chain that is not supported",
      { allocation: one("eip155:137/erc20:0x52908400098527886E0F7030069857D2E4169EE7") },
      "allocation.assets.0.assetId: unsupported chain 137 of eip155:137/erc20:0x52908400098527886E0F7030069857D2E4169EE7; supported chains are "
    ],
    [
      "weights that do not sum to 100",
      { allocation: one(baseUsdc.assetId, "99.99") },
      "allocation.assets: weights sum to 99.99"
    ],
    [
      "an asset twice",
      { allocation: { assets: [...one(baseUsdc.assetId, "50").assets, ...one(baseUsdc.assetId, "50").assets] } },
      "allocation.assets.1.assetId: duplicate"
    ],
    ["too much slippage", { preferences: { swap: { slippageBps: 1001 } } }, "preferences.swap.slippageBps: "],
    ["half a basis point", { preferences: { swap: { priceImpactBps: 0.5 } } }, "preferences.swap.priceImpactBps: "],
    ["a negative threshold", { preferences: { swap: { thresholdUsd: "-1" } } }, "preferences.swap.thresholdUsd: "],
    ["a number as threshold", { preferences: { swap: { thresholdUsd: 5 } } }, "preferences.swap.thresholdUsd: "],
    ["an exponent as threshold", { preferences: { swap: { thresholdUsd: "1e3" } } }, "preferences.swap.thresholdUsd: "]
  ]

  for (const [what, changes, ...details] of refused) {
    it.effect(`create and validate refuse ${what}`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        yield* fillCatalogue
        const { key } = yield* newTenant()
        const body = { ...strategyBody, ...changes }
        for (const path of ["/v2/strategies", "/v2/strategies/validate"]) {
          assertError(yield* call("POST", path, { key, body }), ValidationFailed, ...details)
        }
        const { json } = yield* call("GET", "/v2/strategies", { key })
        assert.deepStrictEqual(json.data.strategies, [])
      })
    )
  }

  it.effect("a blocked asset is refused", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      yield* fillCatalogue
      yield* (yield* AssetStore).upsertAssets([{ ...baseBtc, isBlocked: true }])
      const { key } = yield* newTenant()
      const answer = yield* call("POST", "/v2/strategies", {
        key,
        body: { ...strategyBody, allocation: one(baseBtc.assetId) }
      })
      assertError(answer, ValidationFailed, "allocation.assets.0.assetId: blocked asset")
    })
  )

  it.effect("all problems of a body come at once, each once", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      const body = { name: 1, extra: true, allocation: one("x", "y"), schedule: {} }
      const answer = yield* call("POST", "/v2/strategies", { key, body })
      assertError(
        answer,
        ValidationFailed,
        "name: ",
        "extra: ",
        "allocation.assets.0.assetId: ",
        "allocation.assets.0.weight: ",
        "schedule.type: ",
        "schedule.frequency: "
      )
      const { details } = answer.json.error
      assert.strictEqual(new Set(details).size, details.length)
    })
  )

  it.effect("problems are bounded in number and length", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      const extra = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`${"k".repeat(200)}${index}`, 1]))
      const answer = yield* call("POST", "/v2/strategies", { key, body: { ...strategyBody, ...extra } })
      assertError(answer, ValidationFailed)
      assert.strictEqual(answer.json.error.details.length, 50)
      assert.isTrue(answer.json.error.details.every((line: string) => line.length <= 303))
    })
  )

  it.effect("validate answers valid and stores nothing", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      yield* fillCatalogue
      const { key } = yield* newTenant()
      const answer = yield* call("POST", "/v2/strategies/validate", { key, body: strategyBody })
      assertData(answer, 200, ["valid"])
      assert.isTrue(answer.json.data.valid)
      assert.deepStrictEqual((yield* call("GET", "/v2/strategies", { key })).json.data.strategies, [])
    })
  )

  it.effect("a foreign strategy reads when it is public, and does not exist when it is not", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const [owner, stranger] = [yield* newTenant(), yield* newTenant()]
      const secret = yield* newStrategy(owner)
      const open = yield* newStrategy(owner, { isPublic: true })
      const hidden = yield* call("GET", `/v2/strategies/${secret}`, { key: stranger.key })
      assertError(hidden, NotFound)
      const missing = yield* call("GET", "/v2/strategies/01JQ8ZKX4V6T3M9N2C5B7D8F0G", { key: stranger.key })
      assert.strictEqual(missing.text.replace("01JQ8ZKX4V6T3M9N2C5B7D8F0G", secret), hidden.text)
      assert.strictEqual((yield* call("GET", `/v2/strategies/${open}`, { key: stranger.key })).status, 200)
      assert.deepStrictEqual((yield* call("GET", "/v2/strategies", { key: stranger.key })).json.data.strategies, [])
    })
  )

  it.effect("an id of another form is a 400 that names it", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key } = yield* newTenant()
      for (const id of ["x", "01jq8zkx4v6t3m9n2c5b7d8f0g", "x".repeat(300), "%00"]) {
        assertError(yield* call("GET", `/v2/strategies/${id}`, { key }), ValidationFailed, "strategyId: ")
      }
    })
  )

  it.effect("pages go through all strategies, newest first, each once", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const actor = yield* newTenant()
      const made: Array<string> = []
      for (let index = 0; index < 5; index++) made.unshift(yield* newStrategy(actor, { name: `S${index}` }))
      const seen: Array<string> = []
      let cursor: string | null = null
      do {
        const { json, status }: { json: any; status: number } = yield* call(
          "GET",
          `/v2/strategies?limit=2${cursor === null ? "" : `&cursor=${cursor}`}`,
          { key: actor.key }
        )
        assert.strictEqual(status, 200)
        assert.isAtMost(json.data.strategies.length, 2)
        seen.push(...json.data.strategies.map(({ strategyId }: { strategyId: string }) => strategyId))
        cursor = json.nextCursor
      } while (cursor !== null)
      assert.deepStrictEqual(seen, made)
    })
  )

  it.effect("the list has its envelope", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const actor = yield* newTenant()
      yield* newStrategy(actor)
      const { json } = yield* call("GET", "/v2/strategies", { key: actor.key })
      assert.deepStrictEqual(Object.keys(json), ["success", "data", "nextCursor"])
      assert.deepStrictEqual(Object.keys(json.data), ["strategies"])
      assert.sameMembers(Object.keys(json.data.strategies[0]), strategyFields)
      assert.isNull(json.nextCursor)
    })
  )

  const otherSpellings = [
    "0x10",
    "1e2",
    "%2B5",
    "+5",
    "%205",
    "5%20",
    "05",
    "5.0",
    "5n",
    "1_0",
    "\u0665",
    "9".repeat(400)
  ]
  for (const limit of ["0", "201", "-1", "1.5", "abc", "", "1&limit=2", "1e1000", ...otherSpellings]) {
    it.effect(`limit=${limit} is refused`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const { key } = yield* newTenant()
        assertError(yield* call("GET", `/v2/strategies?limit=${limit}`, { key }), ValidationFailed, "limit: ")
      })
    )
  }

  it.effect(
    "limits at the bounds are taken, and a page by its number is refused rather than the first read again",
    () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const { key } = yield* newTenant()
        for (const query of ["limit=1", "limit=200"]) {
          assert.strictEqual((yield* call("GET", `/v2/strategies?${query}`, { key })).status, 200)
        }
        assertError(
          yield* call("GET", "/v2/strategies?page=2", { key }),
          ValidationFailed,
          "page: is not a parameter here"
        )
      })
  )

  it.effect("a cursor of another list, or none at all, is refused", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const actor = yield* newTenant()
      yield* newStrategy(actor)
      yield* newStrategy(actor, { allocation: one(baseWeth.assetId) })
      const { json } = yield* call("GET", "/v2/strategies?limit=1", { key: actor.key })
      assertError(yield* call("GET", `/v2/portfolios?cursor=${json.nextCursor}`, { key: actor.key }), CursorInvalid)
      for (const cursor of ["x", "%00", "e30", "x".repeat(600)]) {
        assertError(yield* call("GET", `/v2/strategies?cursor=${cursor}`, { key: actor.key }), CursorInvalid)
      }
    })
  )
})

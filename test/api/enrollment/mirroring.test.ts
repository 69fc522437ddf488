/** A public strategy of one tenant that users of another are enrolled into. */
import { assert, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { NotFound, ValidationFailed } from "#domain/errors/Errors.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { RunStore } from "#domain/rebalance/RunStore.ts"
import { enroll, newOwner, newStrategy, newTenant, setMirrorable, strategyBody } from "#test/api/support/actors.ts"
import { type Answer, Api, ApiLive, type Call } from "#test/api/support/Api.ts"
import { assertError } from "#test/api/support/assertions.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"

const discovery = "/v2/discovery/strategies?collection=top_performing"
const allInDollars = { assets: [{ assetId: baseUsdc.assetId, weight: "100.00" }] }

/** The creator, its public strategy, and another tenant. */
const world = Effect.gen(function* () {
  const { call } = yield* Api
  const [creator, mirror] = [yield* newTenant(), yield* newTenant()]
  const strategyId = yield* newStrategy(creator, { isPublic: true })
  const as =
    ({ key }: { readonly key: string }) =>
    (method: string, path: string, rest: Call = {}) =>
      call(method, path, { ...rest, key })
  return { mirror, strategyId, asCreator: as(creator), asMirror: as(mirror), path: `/v2/strategies/${strategyId}` }
})

const found = ({ json }: Answer, strategyId: string) =>
  json.data.strategies.find((item: { readonly strategyId: string }) => item.strategyId === strategyId)

/** What the run of an operation aims at. */
const targetOf = Effect.fnUntraced(function* (operationId: string) {
  const store = yield* RunStore
  const { allocation, strategyVersion } = Option.getOrThrow(yield* store.context(operationId as OperationId))
  return { allocation, strategyVersion }
})

layer(ApiLive, { excludeTestServices: true })("mirroring", (it) => {
  it.effect("another tenant finds a public strategy and reads it as its creator does", () =>
    Effect.gen(function* () {
      const { asCreator, asMirror, path, strategyId } = yield* world
      const item = found(yield* asMirror("GET", discovery), strategyId)
      assert.isTrue(item.canMirror)
      for (const route of ["", "/schedule", "/preferences", "/versions", "/performance"]) {
        const [own, foreign] = [yield* asCreator("GET", path + route), yield* asMirror("GET", path + route)]
        assert.strictEqual(foreign.status, 200, foreign.text)
        if (route !== "/performance") assert.deepStrictEqual(foreign.json, own.json)
      }
      const { json } = yield* asMirror("GET", path)
      assert.deepStrictEqual(item.allocation, json.data.allocation)
    })
  )

  it.effect("its users' portfolios show the strategy, and are its own alone", () =>
    Effect.gen(function* () {
      const { asCreator, asMirror, mirror, strategyId } = yield* world
      const { portfolioId } = yield* enroll(mirror, strategyId)
      const { json } = yield* asMirror("GET", `/v2/portfolios/${portfolioId}`)
      assert.strictEqual(json.data.strategyId, strategyId)
      assert.strictEqual(json.data.strategyName, strategyBody.name)
      assert.strictEqual(json.data.strategyDescription, strategyBody.description)
      assert.strictEqual(json.data.schedule.frequency, strategyBody.schedule.frequency)
      const listed = yield* asMirror("GET", `/v2/portfolios?strategyId=${strategyId}`)
      assert.strictEqual(listed.json.data.portfolios.length, 1)

      assertError(yield* asCreator("GET", `/v2/portfolios/${portfolioId}`), NotFound)
      assertError(yield* asCreator("GET", `/v2/portfolios/${portfolioId}/positions`), NotFound)
      assert.deepStrictEqual((yield* asCreator("GET", "/v2/portfolios")).json.data.portfolios, [])
      const filtered = yield* asCreator("GET", `/v2/portfolios?ownerAccountId=${json.data.ownerAccountId}`)
      assert.deepStrictEqual(filtered.json.data.portfolios, [])
    })
  )

  it.effect("only the creator changes the strategy", () =>
    Effect.gen(function* () {
      const { asCreator, asMirror, path } = yield* world
      const before = (yield* asCreator("GET", path)).json
      const writes: ReadonlyArray<readonly [method: string, route: string, body: unknown]> = [
        ["PATCH", "", { name: "Mine now" }],
        ["PATCH", "", { isPublic: false }],
        ["PUT", "/schedule", { type: "interval", frequency: "hourly" }],
        ["PATCH", "/preferences", { swap: { slippageBps: 1000 } }],
        ["POST", "/versions", { allocation: allInDollars }],
        ["PATCH", "/fees", { swapBps: 300 }]
      ]
      for (const [method, route, body] of writes) assertError(yield* asMirror(method, path + route, { body }), NotFound)
      assertError(yield* asMirror("GET", `${path}/fees`), NotFound)
      assert.deepStrictEqual((yield* asCreator("GET", path)).json, before)
    })
  )

  it.effect("a new version of the creator is what the next run of a mirroring portfolio aims at", () =>
    Effect.gen(function* () {
      const { asCreator, asMirror, mirror, path, strategyId } = yield* world
      const { portfolioId } = yield* enroll(mirror, strategyId)
      const published = yield* asCreator("POST", `${path}/versions`, { body: { allocation: allInDollars } })
      assert.strictEqual(published.status, 201, published.text)
      const rebalance = yield* asMirror("POST", `/v2/portfolios/${portfolioId}/rebalance`)
      assert.strictEqual(rebalance.status, 202, rebalance.text)
      assert.deepStrictEqual(yield* targetOf(rebalance.json.data.operationId), {
        strategyVersion: 2,
        allocation: [{ assetId: baseUsdc.assetId, weight: 10_000 }]
      })
    })
  )

  it.effect("private again it is gone at once, and portfolios that follow it go on", () =>
    Effect.gen(function* () {
      const { asCreator, asMirror, mirror, path, strategyId } = yield* world
      const { portfolioId } = yield* enroll(mirror, strategyId)
      const hidden = yield* asCreator("PATCH", path, { body: { isPublic: false } })
      assert.strictEqual(hidden.status, 200, hidden.text)
      assert.isUndefined(found(yield* asMirror("GET", discovery), strategyId))
      assertError(yield* asMirror("GET", path), NotFound)
      const body = { ownerAccountId: newOwner(), strategyId, chainIds: [8453, 42161] }
      assertError(yield* asMirror("POST", "/v2/enroll/signature", { body }), ValidationFailed, "strategyId: ")

      const { json } = yield* asMirror("GET", `/v2/portfolios/${portfolioId}`)
      assert.strictEqual(json.data.strategyName, strategyBody.name)
      assert.strictEqual(json.data.schedule.status, "active")
      const ether = { assetId: baseWeth.assetId, weight: "100" }
      yield* asCreator("POST", `${path}/versions`, { body: { allocation: { assets: [ether] } } })
      const rebalance = yield* asMirror("POST", `/v2/portfolios/${portfolioId}/rebalance`)
      assert.strictEqual((yield* targetOf(rebalance.json.data.operationId)).strategyVersion, 2)

      yield* asCreator("PATCH", path, { body: { isPublic: true } })
      assert.isDefined(found(yield* asMirror("GET", discovery), strategyId))
    })
  )

  it.effect("may not be done before the operator says so, nor after it took that back", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const [creator, mirror] = [yield* newTenant(), yield* newTenant()]
      const strategyId = yield* newStrategy(creator)
      yield* call("PATCH", `/v2/strategies/${strategyId}`, { key: creator.key, body: { isPublic: true } })
      const isListed = Effect.map(
        call("GET", discovery, { key: mirror.key }),
        (answer) => found(answer, strategyId) !== undefined
      )
      const body = { ownerAccountId: newOwner(), strategyId, chainIds: [8453, 42161] }
      const stageOne = call("POST", "/v2/enroll/signature", { key: mirror.key, body })
      assert.isFalse(yield* isListed)
      assertError(yield* stageOne, ValidationFailed, "strategyId: ")
      assert.strictEqual((yield* setMirrorable(strategyId, { canMirror: true })).status, 200)
      assert.isTrue(yield* isListed)
      assert.strictEqual((yield* stageOne).status, 200)
      assert.strictEqual((yield* setMirrorable(strategyId, { canMirror: false })).status, 200)
      assert.isFalse(yield* isListed)
      assertError(yield* stageOne, ValidationFailed, "strategyId: ")
      assert.strictEqual((yield* call("POST", "/v2/enroll/signature", { key: creator.key, body })).status, 200)
    })
  )

  it.effect("a creator's wider limits reach a mirroring portfolio only once its tenant accepts them", () =>
    Effect.gen(function* () {
      const { asCreator, asMirror, mirror, path, strategyId } = yield* world
      assertError(yield* asMirror("GET", `${path}/mirror-terms`), NotFound)
      assertError(yield* asMirror("GET", "/v2/strategies/nothing/mirror-terms"), ValidationFailed, "strategyId: ")
      yield* enroll(mirror, strategyId)
      const patch = (swap: unknown) => asCreator("PATCH", `${path}/preferences`, { body: { swap } })
      const terms = Effect.map(asMirror("GET", `${path}/mirror-terms`), ({ json }) => json.data)
      const accepted = { slippageBps: 50, priceImpactBps: null, thresholdUsd: "5.00" }
      assert.deepNestedInclude(yield* terms, { isCurrent: true, "accepted.preferences.swap.slippageBps": 50 })

      yield* asMirror("PATCH", "/v2/tenant/preferences", { body: { swap: { slippageBps: 80, priceImpactBps: 70 } } })
      yield* patch({ slippageBps: 1000, priceImpactBps: 1000, thresholdUsd: "0" })
      yield* asCreator("PUT", `${path}/schedule`, { body: { type: "interval", frequency: "hourly" } })
      const widened = yield* terms
      assert.isFalse(widened.isCurrent)
      assert.deepStrictEqual(widened.accepted.preferences.swap, accepted)
      assert.deepStrictEqual(widened.applied, {
        schedule: strategyBody.schedule,
        preferences: { swap: { slippageBps: 50, priceImpactBps: 70, thresholdUsd: "5.00" } }
      })
      yield* patch({ slippageBps: 20 })
      assert.strictEqual((yield* terms).applied.preferences.swap.slippageBps, 20)

      const put = (body: unknown) => asMirror("PUT", `${path}/mirror-terms`, { body })
      const { offered } = yield* terms
      yield* patch({ slippageBps: 1000 })
      assertError(yield* put(offered), ValidationFailed, "schedule, preferences: ")
      assert.deepStrictEqual((yield* terms).accepted.preferences.swap, accepted)

      const now = (yield* terms).offered
      const answer = yield* put(now)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.isTrue(answer.json.data.isCurrent)
      assert.deepStrictEqual(answer.json.data.applied, {
        schedule: { type: "interval", frequency: "hourly" },
        // What the tenant set for itself, and the minimum trade of the service, hold all the same.
        preferences: { swap: { slippageBps: 80, priceImpactBps: 70, thresholdUsd: "1.00" } }
      })
      assertError(yield* asCreator("PUT", `${path}/mirror-terms`, { body: now }), NotFound)
    })
  )
})

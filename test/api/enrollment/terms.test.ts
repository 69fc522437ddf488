/**
 * Tighter terms of the permission, as they are asked for and kept. What they do is tried in
 * test/layers/evm/account/Terms.test.ts.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ValidationFailed } from "#domain/errors/Errors.ts"
import { newOwner, newStrategy, newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertError } from "#test/api/support/assertions.ts"
import { ownerSignature, TestEnvironment } from "#test/api/support/TestEnvironment.ts"
import { arbUsdc, baseUsdc, baseWeth } from "#test/support/assets.ts"

const tenant = Effect.gen(function* () {
  const actor = yield* newTenant()
  return { ...actor, strategyId: yield* newStrategy(actor) }
})

const post = Effect.fnUntraced(function* (key: string, path: string, body: unknown) {
  return yield* (yield* Api).call("POST", path, { key, body })
})

const draftOf = (strategyId: string, chainIds: ReadonlyArray<number> = [8453, 42161]) => ({
  ownerAccountId: newOwner(),
  strategyId,
  chainIds
})

const enrolledWith = Effect.fnUntraced(function* (terms: unknown, chainIds?: ReadonlyArray<number>) {
  const { key, strategyId } = yield* tenant
  const draft = draftOf(strategyId, chainIds)
  const stage1 = yield* post(key, "/v2/enroll/signature", terms === undefined ? draft : { ...draft, terms })
  assert.strictEqual(stage1.status, 200, stage1.text)
  const { accountIndex, agentAccountId, flowId } = stage1.json.data
  const body = { ...draft, accountIndex, agentAccountId, flowId, signature: ownerSignature }
  const { portfolioId } = (yield* post(key, "/v2/enroll", body)).json.data
  return { key, path: `/v2/portfolios/${portfolioId}`, portfolioId: portfolioId as string }
})

/** What the latest permission of each chain has. */
const termsOf = Effect.fnUntraced(function* (portfolioId: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly chain: number; readonly guard: Readonly<Record<string, unknown>> }>`
    SELECT DISTINCT ON (chain) (c ->> 'chainId')::int AS chain, c -> 'policy' -> 'guard' AS guard FROM grants
    CROSS JOIN jsonb_array_elements(authorization_document -> 'chains') AS c
    WHERE portfolio_id = ${portfolioId} ORDER BY chain, sequence DESC`
  return rows.map(({ chain, guard: { budgetBps, closedTokens, tradeBps } }) => [
    chain,
    tradeBps,
    budgetBps,
    closedTokens
  ])
})

/** Adds the second chain to a portfolio, signed by its owner. */
const addArbitrum = Effect.fnUntraced(function* (key: string, path: string) {
  const stage1 = yield* post(key, `${path}/chains/signature`, { chainIds: [42161] })
  assert.strictEqual(stage1.status, 200, stage1.text)
  const { accountIndex, agentAccountId, flowId } = stage1.json.data
  const sent = { chainIds: [42161], accountIndex, agentAccountId, flowId, signature: ownerSignature }
  assert.strictEqual((yield* post(key, `${path}/chains`, sent)).status, 200)
})

const addressIn = (assetId: string) => assetId.split(":").at(-1)!

layer(ApiLive, { excludeTestServices: true })("terms of the permission", (it) => {
  it.effect("are signed at enrollment, each asset of a closed list on its chain", () =>
    Effect.gen(function* () {
      const closedList = [baseUsdc.assetId, arbUsdc.assetId, baseWeth.assetId]
      const { portfolioId } = yield* enrolledWith({ maxTradeLossBps: 120, maxWeeklyLossBps: 90, closedList })
      assert.deepStrictEqual(yield* termsOf(portfolioId), [
        [8453, 120, 90, [addressIn(baseUsdc.assetId), addressIn(baseWeth.assetId)]],
        [42161, 120, 90, [addressIn(arbUsdc.assetId)]]
      ])
    })
  )

  it.effect("left out are the guard's own", () =>
    Effect.gen(function* () {
      const { portfolioId } = yield* enrolledWith(undefined)
      assert.deepStrictEqual(yield* termsOf(portfolioId), [
        [8453, 0, 0, undefined],
        [42161, 0, 0, undefined]
      ])
    })
  )

  it.effect("stay when the owner signs anew without naming any, and are replaced by those that are named", () =>
    Effect.gen(function* () {
      const closedList = [baseUsdc.assetId, arbUsdc.assetId]
      const { key, path, portfolioId } = yield* enrolledWith({ maxTradeLossBps: 50, closedList })
      const resign = Effect.fnUntraced(function* (body: unknown) {
        const { accountIndex, agentAccountId, flowId } = (yield* post(key, `${path}/resign/signature`, body)).json.data
        const sent = { chainIds: [8453, 42161], accountIndex, agentAccountId, flowId, signature: ownerSignature }
        assert.strictEqual((yield* post(key, `${path}/resign`, sent)).status, 200)
      })
      const before = yield* termsOf(portfolioId)
      yield* resign({})
      assert.deepStrictEqual(yield* termsOf(portfolioId), before)
      yield* resign({ terms: { maxWeeklyLossBps: 70 } })
      assert.deepStrictEqual(yield* termsOf(portfolioId), [
        [8453, 0, 70, undefined],
        [42161, 0, 70, undefined]
      ])
    })
  )

  it.effect("a chain that is added later gets the limits of the others, and no list where they have none", () =>
    Effect.gen(function* () {
      const { key, path, portfolioId } = yield* enrolledWith({ maxTradeLossBps: 50, maxWeeklyLossBps: 70 }, [8453])
      yield* addArbitrum(key, path)
      assert.deepStrictEqual(yield* termsOf(portfolioId), [
        [8453, 50, 70, undefined],
        [42161, 50, 70, undefined]
      ])
    })
  )

  it.effect("an owner's closed list stays closed on a chain that is added later: what the strategy holds there", () =>
    Effect.gen(function* () {
      const { key, path, portfolioId } = yield* enrolledWith(
        { maxTradeLossBps: 50, closedList: [baseUsdc.assetId] },
        [8453]
      )
      yield* addArbitrum(key, path)
      const [, [, , , closed]] = (yield* termsOf(portfolioId)) as [unknown, ReadonlyArray<ReadonlyArray<string>>]
      assert.deepStrictEqual(closed, [addressIn(arbUsdc.assetId)])
    })
  )

  it.effect("a closed list has no chain on which the strategy holds nothing", () =>
    Effect.gen(function* () {
      const actor = yield* newTenant()
      const assets = [{ assetId: baseUsdc.assetId, weight: "100" }]
      const strategyId = yield* newStrategy(actor, { allocation: { assets } })
      const draft = { ...draftOf(strategyId, [8453]), terms: { closedList: [baseUsdc.assetId] } }
      const stage1 = yield* post(actor.key, "/v2/enroll/signature", draft)
      const { accountIndex, agentAccountId, flowId } = stage1.json.data
      const { terms: _, ...same } = draft
      const body = { ...same, accountIndex, agentAccountId, flowId, signature: ownerSignature }
      const { portfolioId } = (yield* post(actor.key, "/v2/enroll", body)).json.data
      const answer = yield* post(actor.key, `/v2/portfolios/${portfolioId}/chains/signature`, { chainIds: [42161] })
      assertError(answer, ValidationFailed, "chainIds: the closed list has no asset of chain 42161")
    })
  )

  it.effect("a tenant makes them tighter for all that is signed from then on, and nobody asks for wider ones", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, path, portfolioId } = yield* enrolledWith({ maxTradeLossBps: 120 }, [8453])
      const patched = yield* call("PATCH", "/v2/tenant/preferences", {
        key,
        body: { permissionTerms: { maxTradeLossBps: 150, maxWeeklyLossBps: 80 } }
      })
      assert.deepStrictEqual(patched.json.data.permissionTerms, { maxTradeLossBps: 150, maxWeeklyLossBps: 80 })
      assert.deepStrictEqual(yield* termsOf(portfolioId), [[8453, 120, 0, undefined]])
      yield* addArbitrum(key, path)
      assert.deepStrictEqual((yield* termsOf(portfolioId))[1], [42161, 120, 80, undefined])
      const resign = Effect.fnUntraced(function* (terms: object | undefined) {
        const stage1 = yield* post(key, `${path}/resign/signature`, terms === undefined ? {} : { terms })
        assert.strictEqual(stage1.status, 200, stage1.text)
        const { accountIndex, agentAccountId, chainIds = [8453, 42161], flowId } = stage1.json.data
        const body = { chainIds, accountIndex, agentAccountId, flowId, signature: ownerSignature }
        assert.strictEqual((yield* post(key, `${path}/resign`, body)).status, 200)
        return (yield* termsOf(portfolioId)).map(([, trade, budget]) => [trade, budget])
      })
      const each = (limits: Array<unknown>) => [limits, limits]
      assert.deepStrictEqual(yield* resign({ maxTradeLossBps: 200, maxWeeklyLossBps: 200 }), each([150, 80]))
      assert.deepStrictEqual(yield* resign({ maxTradeLossBps: 90, maxWeeklyLossBps: 70 }), each([90, 70]))
      const cleared = yield* call("PATCH", "/v2/tenant/preferences", { key, body: { permissionTerms: null } })
      assert.notProperty(cleared.json.data, "permissionTerms")
      // Only what the owner signs is wider again.
      assert.deepStrictEqual(yield* resign(undefined), each([90, 70]))
      assert.deepStrictEqual(yield* resign({ maxWeeklyLossBps: 200 }), each([0, 200]))
      const wider = yield* call("PATCH", "/v2/tenant/preferences", {
        key,
        body: { permissionTerms: { maxWeeklyLossBps: 201 } }
      })
      assertError(wider, ValidationFailed, "permissionTerms")
    })
  )

  const refused: ReadonlyArray<readonly [what: string, terms: unknown, detail: string]> = [
    ["wider limits than the guard's", { maxTradeLossBps: 201 }, "terms.maxTradeLossBps: "],
    ["a limit of nothing", { maxWeeklyLossBps: 0 }, "terms.maxWeeklyLossBps: "],
    ["an empty list", { closedList: [] }, "terms.closedList: "],
    ["an asset twice", { closedList: [baseUsdc.assetId, baseUsdc.assetId] }, "terms.closedList: "],
    [
      "a list without an asset of a chain",
      { closedList: [baseUsdc.assetId] },
      "terms.closedList: names no asset of chain 42161"
    ],
    ["what is no term", { maxLossBps: 5 }, "terms.maxLossBps: "]
  ]
  for (const [what, terms, detail] of refused) {
    it.effect(`stage 1 refuses ${what}`, () =>
      Effect.gen(function* () {
        const { key, strategyId } = yield* tenant
        const answer = yield* post(key, "/v2/enroll/signature", { ...draftOf(strategyId), terms })
        assertError(answer, ValidationFailed, detail)
      })
    )
  }

  it.effect("stage 1 refuses terms for chains that have no guard to enforce them", () =>
    Effect.gen(function* () {
      const environment = yield* TestEnvironment
      const { key, strategyId } = yield* tenant
      const body = { ...draftOf(strategyId), terms: { maxTradeLossBps: 50 } }
      environment.isGuarded = false
      const answer = yield* post(key, "/v2/enroll/signature", body)
      environment.isGuarded = true
      assertError(answer, ValidationFailed, "terms: no guard on chain 8453, 42161")
    })
  )
})

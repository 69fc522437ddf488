/** Lists of operations, and how a portfolio stands, as integrators read them. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { CursorInvalid, NotFound, ValidationFailed } from "#domain/errors/Errors.ts"
import { makeOperationId, type OperationId, type PortfolioId, type TenantId } from "#domain/values/Ids.ts"
import { receiptWaits } from "#domain/operation/waits.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { enrolledUser, newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError } from "#test/api/support/assertions.ts"

const noon = DateTime.makeUnsafe("2026-03-01T12:00:00.000Z")

/** Manual runs a minute apart that all completed. */
const runs = Effect.fnUntraced(function* (tenantId: TenantId, portfolioId: PortfolioId, count: number) {
  const store = yield* OperationStore
  const ids: Array<OperationId> = []
  for (let number = 0; number < count; number++) {
    const operationId = yield* makeOperationId
    // Two of each minute, so that the order of equal times is seen too.
    const now = DateTime.add(noon, { minutes: Math.floor(number / 2) })
    yield* store.submitManual({ operationId, tenantId, portfolioId, now, cooldownMs: 0 })
    yield* store.transition({ operationId, to: "running", at: now, error: null })
    yield* store.transition({ operationId, to: "completed", at: now, error: null })
    ids.push(operationId)
  }
  return ids
})

const idsOf = (items: ReadonlyArray<{ readonly operationId: string }>) => items.map(({ operationId }) => operationId)

layer(ApiLive, { excludeTestServices: true })("lists of operations", (it) => {
  it.effect("every run, scheduled ones too, is found under its portfolio and its tenant, page after page", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, portfolioId, tenantId } = yield* enrolledUser()
      const ids = yield* runs(tenantId, portfolioId as PortfolioId, 7)
      yield* (yield* SqlClient.SqlClient)`UPDATE operations SET trigger = 'scheduled' WHERE operation_id = ${ids[0]!}`
      for (const path of [`/v2/portfolios/${portfolioId}/operations`, "/v2/operations"]) {
        const seen: Array<{ operationId: string; submittedAt: string; trigger: string }> = []
        let cursor: string | null = null
        do {
          const query: string = cursor === null ? "" : `&cursor=${cursor}`
          const answer = yield* call("GET", `${path}?limit=3${query}`, { key })
          assert.strictEqual(answer.status, 200, answer.text)
          assert.isAtMost(answer.json.data.operations.length, 3)
          seen.push(...answer.json.data.operations)
          cursor = answer.json.nextCursor
        } while (cursor !== null)
        assert.sameMembers(idsOf(seen), ids)
        assert.lengthOf(seen, ids.length, "none comes twice")
        const order = seen.map(({ operationId, submittedAt }) => `${submittedAt} ${operationId}`)
        assert.deepStrictEqual(order, [...order].toSorted().toReversed())
        assert.strictEqual(seen.find(({ operationId }) => operationId === ids[0])?.trigger, "scheduled")
      }
    })
  )

  it.effect("filters by state, kind, portfolio and time, and by several at once", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, portfolioId, tenantId } = yield* enrolledUser()
      const ids = yield* runs(tenantId, portfolioId as PortfolioId, 6)
      const waiting = yield* makeOperationId
      const store = yield* OperationStore
      const now = DateTime.add(noon, { hours: 1 })
      yield* store.submitManual({
        operationId: waiting,
        tenantId,
        portfolioId: portfolioId as PortfolioId,
        now,
        cooldownMs: 0
      })
      yield* store.transition({ operationId: waiting, to: "running", at: now, error: null })
      yield* store.transition({ operationId: waiting, to: "awaiting_user", at: now, error: null })
      const listed = (query: string) =>
        Effect.map(call("GET", `/v2/operations?${query}`, { key }), ({ json }) => idsOf(json.data.operations))
      assert.deepStrictEqual(yield* listed("state=awaiting_user"), [waiting])
      assert.sameMembers(yield* listed("state=completed"), ids)
      assert.deepStrictEqual(yield* listed("kind=withdraw"), [])
      assert.lengthOf(yield* listed(`kind=rebalance&portfolioId=${portfolioId}`), 7)
      assert.deepStrictEqual(yield* listed("portfolioId=pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8"), [])
      assert.sameMembers(yield* listed("since=2026-03-01T12:02:00.000Z"), [ids[4]!, ids[5]!, waiting])
      assert.sameMembers(yield* listed("since=2026-03-01T12:02:00.000Z&state=completed"), [ids[4]!, ids[5]!])
      const portfolio = yield* call("GET", `/v2/portfolios/${portfolioId}`, { key })
      assert.strictEqual(portfolio.json.data.activeOperationId, waiting)
      assert.strictEqual(portfolio.json.data.lastOperation.state, "completed")
    })
  )

  it.effect("show nothing of other tenants", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { portfolioId, tenantId } = yield* enrolledUser()
      yield* runs(tenantId, portfolioId as PortfolioId, 2)
      const stranger = yield* newTenant()
      const all = yield* call("GET", "/v2/operations", { key: stranger.key })
      assertData(all, 200, ["operations"])
      assert.deepStrictEqual(all.json.data.operations, [])
      assertError(yield* call("GET", `/v2/portfolios/${portfolioId}/operations`, { key: stranger.key }), NotFound)
    })
  )

  it.effect("refuse what is no filter, no limit and no cursor of theirs", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, portfolioId } = yield* enrolledUser()
      const own = `/v2/portfolios/${portfolioId}/operations`
      assertError(yield* call("GET", `${own}?limit=0`, { key }), ValidationFailed, "limit: ")
      assertError(yield* call("GET", `${own}?cursor=bm90IG91cnM`, { key }), CursorInvalid, "cursor: ")
      for (const [query, field] of [
        ["state=done", "state: "],
        ["kind=trade", "kind: "],
        ["portfolioId=pf_1", "portfolioId: "],
        ["since=yesterday", "since: "],
        ["limit=0", "limit: "],
        ["limit=201", "limit: "]
      ] as const)
        assertError(yield* call("GET", `/v2/operations?${query}`, { key }), ValidationFailed, field)
      assertError(yield* call("GET", "/v2/operations?cursor=bm90IG91cnM", { key }), CursorInvalid, "cursor: ")
    })
  )

  it.effect("a portfolio that waits for its owner says so, and what to do", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const sql = yield* SqlClient.SqlClient
      const { key, portfolioId, tenantId } = yield* enrolledUser()
      const path = `/v2/portfolios/${portfolioId}`
      const codes = Effect.map(call("GET", path, { key }), ({ json }) =>
        json.data.attention.map(({ code }: { code: string }) => code)
      )
      const before = yield* codes
      const operationId = yield* makeOperationId
      const store = yield* OperationStore
      const submitted = { operationId, tenantId, portfolioId: portfolioId as PortfolioId, now: noon, cooldownMs: 0 }
      yield* store.submitManual(submitted)
      yield* store.transition({ operationId, to: "running", at: noon, error: null })
      yield* sql`
        INSERT INTO required_signatures (portfolio_id, chain_id, operation_id, permission_id, cause, required_at)
        SELECT ${portfolioId}, (chain ->> 'chainId')::bigint, ${operationId}, chain ->> 'permissionId', 'agent_changed',
          '2026-03-01T12:00:00Z'
        FROM grants g CROSS JOIN jsonb_array_elements(g.authorization_document -> 'chains') AS chain
        WHERE g.portfolio_id = ${portfolioId} AND (chain ->> 'chainId')::bigint = 8453`
      const waiting = (yield* call("GET", path, { key })).json.data
      const attention = waiting.attention.find(({ code }: { code: string }) => code === "signature_required")
      assert.deepInclude(attention, { actor: "owner", since: "2026-03-01T12:00:00.000Z" })
      assert.include(attention.action, `/v2/portfolios/${portfolioId}/chains/signature`)
      yield* sql`DELETE FROM required_signatures WHERE portfolio_id = ${portfolioId}`
      assert.deepStrictEqual(yield* codes, before)
      yield* sql`UPDATE portfolios SET permission_ends_at = '2020-01-01T00:00:00Z' WHERE portfolio_id = ${portfolioId}`
      assert.include(yield* codes, "permission_expired")
      yield* store.transition({ operationId, to: "retrying", at: noon, error: null })
      const reason = "chain 8453 has not shown yet what became of it"
      yield* store.append({ operationId, at: noon, kind: receiptWaits, payload: { reason } })
      const unclear = (yield* call("GET", path, { key })).json.data.attention.find(
        ({ code }: { code: string }) => code === "outcome_unclear"
      )
      assert.deepInclude(unclear, { actor: "operator", operationId, since: "2026-03-01T12:00:00.000Z" })
      assert.include(unclear.action, reason)
      yield* store.transition({ operationId, to: "running", at: noon, error: null })
      assert.notInclude(yield* codes, "outcome_unclear")
      yield* store.transition({ operationId, to: "failed", at: noon, error: "the chain said no" })
      const failed = (yield* call("GET", path, { key })).json.data.attention
      assert.deepInclude(
        failed.find(({ code }: { code: string }) => code === "run_failed"),
        { actor: "integrator", operationId }
      )
    })
  )
})

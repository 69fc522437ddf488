/**
 * Portfolios of people who signed in, over both wires of procedures: the answers are those of REST, for the owner of a
 * portfolio and for members of its tenant. What others get is in `test/api/access/`.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { connectProcedures } from "#client/rpc.ts"
import * as Errors from "#domain/errors/Errors.ts"
import type { OperationId, PortfolioId } from "#domain/values/Ids.ts"
import { makeProcedures } from "#rpc/client.ts"
import { enroll, newOwner, newStrategy, newTenant, prepare } from "#test/api/support/actors.ts"
import { Api } from "#test/api/support/Api.ts"
import { signedIn } from "#test/api/support/signedIn.ts"
import { Streams } from "#test/api/support/StreamingApi.ts"
import { ownerSignature, TestEnvironment } from "#test/api/support/TestEnvironment.ts"
import { executionsApi } from "#test/rpc/support/ExecutionsApi.ts"

/** Calls a procedure on the interface's wire. */
const ask = Effect.fnUntraced(function* (procedure: string, input: unknown, token: string) {
  const { json, status } = yield* (yield* Api).call("POST", `/v1/rpc/v2.portfolios.${procedure}`, {
    headers: { authorization: `Bearer ${token}` },
    body: { json: input }
  })
  return { status, data: json.result?.data.json, error: json.error?.json }
})
type Asked = Effect.Success<ReturnType<typeof ask>>

const assertError = ({ error, status }: Asked, { contract }: { readonly contract: { code: string; status: number } }) =>
  assert.deepStrictEqual([status, error?.code], [contract.status, contract.code], JSON.stringify(error))

const plain = (value: unknown) => JSON.parse(JSON.stringify(value))

/** A user of somebody's tenant, with a wallet that signs in. */
const enrolled = Effect.fnUntraced(function* (actor: Effect.Success<ReturnType<typeof newTenant>>, wallet: string) {
  const strategyId = yield* newStrategy(actor)
  const { portfolioId } = yield* enroll(actor, strategyId, yield* prepare(actor, strategyId, wallet))
  return { strategyId, portfolioId: portfolioId as PortfolioId }
})

/** Makes a portfolio with an operation, and the people around it. */
const peopled = Effect.gen(function* () {
  const { call } = yield* Api
  const actor = yield* newTenant()
  const wallet = newOwner()
  const { portfolioId, strategyId } = yield* enrolled(actor, wallet)
  const submitted = yield* call("POST", `/v2/portfolios/${portfolioId}/rebalance`, { key: actor.key })
  return {
    ...actor,
    wallet,
    portfolioId,
    strategyId,
    operationId: submitted.json.data.operationId as OperationId,
    owner: yield* signedIn(wallet),
    member: yield* signedIn(newOwner(), actor.tenantId),
    viewer: yield* signedIn(newOwner(), actor.tenantId, "viewer")
  }
})

const allow = Effect.fnUntraced(function* (key: string, ownerActions: ReadonlyArray<string> | null) {
  const { call } = yield* Api
  const answer = yield* call("PATCH", "/v2/tenant/preferences", { key, body: { ownerActions } })
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.json.data
})

const moments = new Set(["asOf", "blockTime", "expiresAt", "plannedAt", "validUntil"])

/** Removes what changes with the moment at which it is asked for, and the cursor, which REST has elsewhere. */
const timeless = ({ data }: { readonly data: any }) => {
  const { nextCursor: _nextCursor, ...rest } = data
  return JSON.parse(JSON.stringify(rest), (key, value) => (moments.has(key) ? typeof value : value))
}

layer(executionsApi(), { excludeTestServices: true })("portfolios of people", (it) => {
  it.effect("owner, member and viewer are answered what a key is answered over REST, on each wire", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const origin = new URL((yield* Streams).url("x")).origin
      const { key, operationId, portfolioId, ...people } = yield* peopled
      const path = `/v2/portfolios/${portfolioId}`
      const reads = [
        ["list", {}, "GET", "/v2/portfolios"],
        ["get", { portfolioId }, "GET", path],
        ["positions", { portfolioId }, "GET", `${path}/positions`],
        ["performance", { portfolioId }, "GET", `${path}/performance`],
        ["policy", { portfolioId }, "GET", `${path}/policy`],
        ["operations.list", { portfolioId }, "GET", `${path}/operations`],
        ["operations.get", { portfolioId, operationId }, "GET", `${path}/operations/${operationId}`],
        ["previewRebalance", { portfolioId }, "POST", `${path}/rebalance/preview`]
      ] as const
      for (const { token } of [people.owner, people.member, people.viewer]) {
        const client = yield* makeProcedures({ baseUrl: origin, token: Redacted.make(token) })
        const native: Record<string, Effect.Effect<unknown, unknown>> = {
          list: client("v2.portfolios.list", {}),
          get: client("v2.portfolios.get", { portfolioId }),
          positions: client("v2.portfolios.positions", { portfolioId }),
          performance: client("v2.portfolios.performance", { portfolioId }),
          policy: client("v2.portfolios.policy", { portfolioId }),
          "operations.list": client("v2.portfolios.operations.list", { portfolioId }),
          "operations.get": client("v2.portfolios.operations.get", { portfolioId, operationId }),
          previewRebalance: client("v2.portfolios.previewRebalance", { portfolioId })
        }
        for (const [procedure, input, method, route] of reads) {
          const rest = yield* call(method, route, { key })
          assert.strictEqual(rest.status, 200, rest.text)
          const asked = yield* ask(procedure, input, token)
          assert.strictEqual(asked.status, 200, JSON.stringify(asked.error))
          assert.deepStrictEqual(timeless(asked), timeless(rest.json), procedure)
          const read = plain(yield* native[procedure]!)
          assert.deepStrictEqual(timeless({ data: read }), timeless(asked), procedure)
          if (method === "POST") continue
          const query = encodeURIComponent(JSON.stringify({ json: input }))
          const got = yield* call("GET", `/v1/rpc/v2.portfolios.${procedure}?input=${query}`, {
            headers: { authorization: `Bearer ${token}` }
          })
          assert.deepStrictEqual(timeless({ data: got.json.result.data.json }), timeless(asked), procedure)
        }
      }
    })
  )

  it.effect("a list has the tenant's and the wallet's portfolios in any tenant, each once, in bounded pages", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* newTenant(), yield* newTenant()]
      const wallet = newOwner()
      const owned = [
        yield* enrolled(one, wallet),
        yield* enrolled(two, wallet),
        yield* enrolled(one, newOwner()),
        yield* enrolled(two, newOwner()),
        yield* enrolled(two, wallet)
      ]
      const ids = (...at: ReadonlyArray<number>) => at.map((index) => owned[index]!.portfolioId)
      const listed = Effect.fnUntraced(function* (token: string, input: object = {}) {
        const found: Array<string> = []
        let cursor: string | null = null
        do {
          const asked: Asked = yield* ask("list", { ...input, ...(cursor === null ? {} : { cursor }) }, token)
          assert.strictEqual(asked.status, 200, JSON.stringify(asked.error))
          found.push(...asked.data.portfolios.map(({ portfolioId }: any) => portfolioId))
          cursor = asked.data.nextCursor
        } while (cursor !== null)
        return found
      })
      const alone = yield* signedIn(wallet)
      // A tenant keeps an owner, so one comes before a viewer.
      yield* signedIn(newOwner(), two.tenantId)
      const inTwo = yield* signedIn(wallet, two.tenantId, "viewer")
      for (const limit of [1, 2, 3, 200]) {
        assert.deepStrictEqual(yield* listed(alone.token, { limit }), ids(4, 1, 0))
        assert.deepStrictEqual(yield* listed(inTwo.token, { limit }), ids(4, 3, 1, 0))
      }
      assert.deepStrictEqual(yield* listed(inTwo.token, { ownerAccountId: wallet }), ids(4, 1, 0))
      assert.deepStrictEqual(yield* listed(alone.token, { ownerAccountId: newOwner() }), [])
      assert.deepStrictEqual(yield* listed(alone.token, { strategyId: owned[1]!.strategyId }), ids(1))
      const { call } = yield* Api
      yield* call("POST", `/v2/portfolios/${owned[0]!.portfolioId}/stop`, { key: one.key })
      assert.deepStrictEqual(yield* listed(alone.token, { status: "paused" }), ids(0))
      assert.deepStrictEqual(yield* listed(alone.token, { status: "active" }), ids(4, 1))
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE portfolios SET archived_at = now() WHERE portfolio_id = ${owned[1]!.portfolioId}`
      assert.deepStrictEqual(yield* listed(alone.token), ids(4, 0))
      assertError(yield* ask("list", { cursor: "x" }, alone.token), Errors.CursorInvalid)
      for (const limit of [0, 201]) assertError(yield* ask("list", { limit }, alone.token), Errors.ValidationFailed)
    })
  )

  it.effect("the plain client of the package is typed for them", () =>
    Effect.gen(function* () {
      const { owner, portfolioId, viewer } = yield* peopled
      const baseUrl = new URL((yield* Streams).url("x")).origin
      const client = connectProcedures({ baseUrl, token: owner.token })
      const { portfolios } = yield* Effect.promise(() => client.call("v2.portfolios.list", { status: "active" }))
      assert.deepStrictEqual(
        portfolios.map((portfolio) => portfolio.portfolioId),
        [portfolioId]
      )
      const { totalValueUsd } = yield* Effect.promise(() => client.call("v2.portfolios.positions", { portfolioId }))
      assert.match(totalValueUsd, /^[0-9.]+$/)
      const seer = client.as(viewer.token)
      const refused = yield* Effect.promise(() =>
        seer.call("v2.portfolios.stop", { portfolioId }).catch((error) => error)
      )
      assert.strictEqual(refused.code, Errors.PermissionDenied.contract.code)
    })
  )

  it.effect("operations are filtered and paged as over REST", () =>
    Effect.gen(function* () {
      const { operationId, owner, portfolioId } = yield* peopled
      const listed = (input: object) => ask("operations.list", { portfolioId, ...input }, owner.token)
      const ids = ({ data }: Asked) => data.operations.map((operation: any) => operation.operationId)
      assert.deepStrictEqual(ids(yield* listed({ kind: "rebalance", state: "accepted", limit: 1 })), [operationId])
      assert.deepStrictEqual(ids(yield* listed({ kind: "withdraw" })), [])
      assert.deepStrictEqual(ids(yield* listed({ state: "completed" })), [])
      assert.deepStrictEqual(ids(yield* listed({ since: "2100-01-01T00:00:00.000Z" })), [])
      assertError(yield* listed({ since: "yesterday" }), Errors.ValidationFailed)
      assertError(yield* listed({ cursor: "x" }), Errors.CursorInvalid)
    })
  )

  it.effect("labels are shown to members of the tenant, and to no other owner", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, member, owner, portfolioId, viewer, wallet } = yield* peopled
      yield* allow(key, ["start", "stop"])
      const labels = { externalId: "crm-77", metadata: { risk: "watch" } }
      yield* call("PATCH", `/v2/portfolios/${portfolioId}`, { key, body: labels })
      for (const { token } of [member, viewer]) {
        assert.deepInclude((yield* ask("get", { portfolioId }, token)).data, labels)
        const { portfolios } = (yield* ask("list", { ownerAccountId: wallet }, token)).data
        assert.deepInclude(portfolios[0], labels)
      }
      const shown = [
        (yield* ask("get", { portfolioId }, owner.token)).data,
        (yield* ask("list", {}, owner.token)).data.portfolios[0],
        (yield* ask("stop", { portfolioId }, owner.token)).data,
        (yield* ask("start", { portfolioId }, owner.token)).data
      ]
      for (const portfolio of shown) {
        assert.strictEqual(portfolio.portfolioId, portfolioId)
        assert.notProperty(portfolio, "externalId")
        assert.notProperty(portfolio, "metadata")
      }
    })
  )

  it.effect("an owner starts, stops and rebalances where ownerActions lets them, a member by the role", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, member, owner, portfolioId, viewer } = yield* peopled
      const status = Effect.map(
        call("GET", `/v2/portfolios/${portfolioId}`, { key }),
        ({ json }) => json.data.schedule.status as string
      )
      const actions = ["stop", "start", "rebalance"] as const
      const asAll = { stop: "paused", start: "active", rebalance: "active" }

      for (const allowed of [null, ["stop"], ["start"], ["rebalance"], [...actions]]) {
        const preferences = yield* allow(key, allowed)
        assert.deepStrictEqual(preferences.ownerActions, allowed ?? undefined)
        for (const action of actions) {
          const before = yield* status
          const answer = yield* ask(action, { portfolioId }, owner.token)
          if (allowed?.includes(action) === true) {
            assert.strictEqual(answer.status, 200, JSON.stringify(answer.error))
            if (action !== "rebalance") assert.strictEqual(answer.data.schedule.status, asAll[action])
          } else {
            assertError(answer, Errors.PermissionDenied)
            assert.include(answer.error.message, "ownerActions")
            assert.strictEqual(yield* status, before)
          }
        }
      }
      for (const wrong of [[], ["withdraw"], ["stop", "stop"], "stop"]) {
        const body = { ownerActions: wrong }
        assert.strictEqual((yield* call("PATCH", "/v2/tenant/preferences", { key, body })).status, 400)
      }
      // What owners may do is no viewer's, and what members may do by their role needs no such word.
      for (const action of actions)
        assertError(yield* ask(action, { portfolioId }, viewer.token), Errors.PermissionDenied)
      yield* allow(key, null)
      for (const action of actions) {
        const denied = yield* ask(action, { portfolioId }, viewer.token)
        assertError(denied, Errors.PermissionDenied)
        const done = yield* ask(action, { portfolioId }, member.token)
        assert.strictEqual(done.status, 200, JSON.stringify(done.error))
        if (action === "stop") assert.strictEqual(yield* status, "paused")
      }
    })
  )

  it.effect("a rebalance by a person is the operation that is under way, and follows a preview", () =>
    Effect.gen(function* () {
      const { key, member, operationId, owner, portfolioId } = yield* peopled
      yield* allow(key, ["rebalance"])
      assert.strictEqual((yield* ask("rebalance", { portfolioId }, owner.token)).data.operationId, operationId)
      const environment = yield* TestEnvironment
      environment.plannedNow = { outcome: "nothing" }
      const { planHash } = (yield* ask("previewRebalance", { portfolioId }, owner.token)).data
      const agreed = yield* ask("rebalance", { portfolioId, planHash }, member.token)
      assert.strictEqual(agreed.data?.operationId, operationId, JSON.stringify(agreed.error))
      assertError(yield* ask("rebalance", { portfolioId, planHash: "0".repeat(64) }, owner.token), Errors.PlanChanged)
      assertError(yield* ask("rebalance", { portfolioId, planHash: "x" }, owner.token), Errors.ValidationFailed)
    })
  )

  it.effect("a contract owns its portfolio on its one chain; its address on another one sees nothing", () =>
    Effect.gen(function* () {
      const actor = yield* newTenant()
      const wallet = newOwner()
      const address = wallet.split(":")[2]!
      const environment = yield* TestEnvironment
      environment.contractOwners = new Set([wallet])
      const strategyId = yield* newStrategy(actor)
      const { call } = yield* Api
      const draft = { ownerAccountId: wallet, strategyId, chainIds: [8453], accountType: "ERC1271" }
      const stage1 = yield* call("POST", "/v2/enroll/signature", { key: actor.key, body: draft })
      const { accountIndex, agentAccountId, flowId } = stage1.json.data
      const body = { ...draft, accountIndex, agentAccountId, flowId, signature: ownerSignature }
      const made = yield* call("POST", "/v2/enroll", { key: actor.key, body })
      assert.strictEqual(made.status, 201, made.text)
      environment.contractOwners = new Set()
      const { portfolioId } = made.json.data
      const own = yield* signedIn(`eip155:8453:${address}`)
      assert.strictEqual((yield* ask("get", { portfolioId }, own.token)).data?.portfolioId, portfolioId)
      assert.lengthOf((yield* ask("list", {}, own.token)).data.portfolios, 1)
      for (const other of [`eip155:42161:${address}`, wallet]) {
        const { token } = yield* signedIn(other)
        assertError(yield* ask("get", { portfolioId }, token), Errors.NotFound)
        assertError(yield* ask("start", { portfolioId }, token), Errors.PortfolioNotFound)
        assert.deepStrictEqual((yield* ask("list", {}, token)).data.portfolios, [])
      }
    })
  )

  it.effect("the owner of a portfolio reads it where the tenant is disabled; its members do not", () =>
    Effect.gen(function* () {
      const { member, owner, portfolioId, tenantId } = yield* peopled
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE tenants SET disabled_at = now() WHERE tenant_id = ${tenantId}`
      assert.strictEqual((yield* ask("get", { portfolioId }, owner.token)).status, 200)
      assertError(yield* ask("get", { portfolioId }, member.token), Errors.TenantDisabled)
    })
  )
})

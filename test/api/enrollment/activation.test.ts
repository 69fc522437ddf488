/** More chains for a portfolio. Source: shapes A. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import type { ChainId } from "#domain/values/Caip.ts"
import { RequiredSignatures } from "#domain/account/RequiredSignatures.ts"
import {
  PortfolioNotFound,
  ReplayInProgress,
  ReplayMismatch,
  ValidationFailed,
  VerifierUnavailable
} from "#domain/errors/Errors.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import type { PermissionId } from "#domain/account/Authorization.ts"
import { newOwner, newStrategy, newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError } from "#test/api/support/assertions.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { ownerSignature, TestEnvironment } from "#test/api/support/TestEnvironment.ts"

const [base, arbitrum] = [8453, 42161]
const solanaId = 1399811149

/** A tenant and a portfolio on one chain. */
const enrolled = Effect.fnUntraced(function* (accountType: "ECDSA" | "ERC1271" = "ECDSA", chainIds = [base]) {
  const { call } = yield* Api
  const actor = yield* newTenant()
  const strategyId = yield* newStrategy(actor)
  const ownerAccountId = newOwner()
  const environment = yield* TestEnvironment
  environment.contractOwners = new Set([ownerAccountId])
  const draft = { ownerAccountId, strategyId, chainIds, accountType }
  const stage1 = yield* call("POST", "/v2/enroll/signature", { key: actor.key, body: draft })
  const { accountIndex, agentAccountId, flowId } = stage1.json.data
  const body = { ...draft, flowId, accountIndex, agentAccountId, signature: ownerSignature }
  const answer = yield* call("POST", "/v2/enroll", { key: actor.key, body })
  assert.strictEqual(answer.status, 201, answer.text)
  const { portfolioId } = answer.json.data as { readonly portfolioId: string }
  return { ...actor, draft, portfolioId, path: `/v2/portfolios/${portfolioId}/chains` }
})

/** Stage 1; answers the body of stage 2. */
const prepare = Effect.fnUntraced(function* (
  { key, path }: { readonly key: string; readonly path: string },
  chainIds: ReadonlyArray<number> = [arbitrum]
) {
  const { call } = yield* Api
  const answer = yield* call("POST", `${path}/signature`, { key, body: { chainIds } })
  assert.strictEqual(answer.status, 200, answer.text)
  const { accountIndex, agentAccountId, flowId } = answer.json.data
  return { chainIds, flowId, accountIndex, agentAccountId, signature: ownerSignature }
})

const accountsOf = Effect.fnUntraced(function* (key: string, portfolioId: string) {
  const { call } = yield* Api
  const { json } = yield* call("GET", `/v2/portfolios/${portfolioId}`, { key })
  return json.data.smartAccounts.map(({ accountId }: { readonly accountId: string }) => accountId) as Array<string>
})

const permissionsOf = (portfolioId: string, chainId: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ readonly id: PermissionId }>`
      SELECT chain ->> 'permissionId' AS id FROM grants
      CROSS JOIN jsonb_array_elements(authorization_document -> 'chains') AS chain
      WHERE portfolio_id = ${portfolioId} AND (chain ->> 'chainId')::int = ${chainId} ORDER BY sequence`
  )

/** A run of the portfolio finds that the owner must sign anew for Base. */
const awaitOwner = Effect.fnUntraced(function* ({
  key,
  portfolioId
}: {
  readonly key: string
  readonly portfolioId: string
}) {
  const { call } = yield* Api
  const run = yield* call("POST", `/v2/portfolios/${portfolioId}/rebalance`, { key })
  const [permission] = yield* permissionsOf(portfolioId, base!)
  const signatures = yield* RequiredSignatures
  return yield* signatures.require({
    operationId: run.json.data.operationId as OperationId,
    chainId: base as ChainId,
    permissionId: permission!.id,
    cause: "permission_revoked",
    at: yield* DateTime.now
  })
})

layer(ApiLive, { excludeTestServices: true })("activation of chains", (it) => {
  it.effect("adds the same address on the new chain, and answers the portfolio", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const portfolio = yield* enrolled()
      const stage1 = yield* call("POST", `${portfolio.path}/signature`, {
        key: portfolio.key,
        body: { chainIds: [arbitrum] }
      })
      assertData(stage1, 200, ["message", "agentAccountId", "accountIndex", "accountType", "flowId"])
      assert.strictEqual(stage1.json.data.message.kind, "ecdsa")
      assert.strictEqual(stage1.json.data.accountIndex, "0")
      const body = yield* prepare(portfolio)
      const [{ length }] = [yield* accountsOf(portfolio.key, portfolio.portfolioId)]
      assert.strictEqual(length, 1)
      const answer = yield* call("POST", portfolio.path, { key: portfolio.key, body })
      assert.strictEqual(answer.status, 200, answer.text)
      const detail = yield* call("GET", `/v2/portfolios/${portfolio.portfolioId}`, { key: portfolio.key })
      assert.deepStrictEqual({ ...detail.json.data, ...answer.json.data }, detail.json.data)
      const [first, second, ...others] = yield* accountsOf(portfolio.key, portfolio.portfolioId)
      assert.deepStrictEqual(others, [])
      assert.strictEqual(second, first!.replace(`eip155:${base}:`, `eip155:${arbitrum}:`))
    })
  )

  it.effect("leaves out chains that are active already, in whatever order they are sent", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const portfolio = yield* enrolled()
      const body = yield* prepare(portfolio, [base, arbitrum])
      const answer = yield* call("POST", portfolio.path, { key: portfolio.key, body })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual((yield* accountsOf(portfolio.key, portfolio.portfolioId)).length, 2)
    })
  )

  it.effect("stage 1 refuses chains that are all active, unsupported ones, and what is no chain", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const portfolio = yield* enrolled()
      const refused: ReadonlyArray<readonly [body: Record<string, unknown>, ...details: ReadonlyArray<string>]> = [
        [{ chainIds: [base] }, "chainIds: already active"],
        [{ chainIds: [1] }, "chainIds: unsupported 1", "chainIds: supported 8453, 42161"],
        [{ chainIds: [solanaId] }, `chainIds: unsupported ${solanaId}`],
        [{ chainIds: [] }, "chainIds: "],
        [{ chainIds: [arbitrum, arbitrum] }, "chainIds: "],
        [{ chainIds: ["42161"] }, "chainIds.0: "],
        [{}, "chainIds: "],
        [{ chainIds: [arbitrum], accountType: "ECDSA" }, "accountType: "]
      ]
      for (const [body, ...details] of refused) {
        const answer = yield* call("POST", `${portfolio.path}/signature`, { key: portfolio.key, body })
        assertError(answer, ValidationFailed, ...details)
      }
    })
  )

  it.effect("a portfolio of a contract stays on its chain", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const portfolio = yield* enrolled("ERC1271")
      assertError(
        yield* call("POST", `${portfolio.path}/signature`, { key: portfolio.key, body: { chainIds: [arbitrum] } }),
        ValidationFailed,
        "portfolioId: "
      )
    })
  )

  it.effect("another tenant's portfolio does not exist, in either stage", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const portfolio = yield* enrolled()
      const body = yield* prepare(portfolio)
      const { key } = yield* newTenant()
      assertError(
        yield* call("POST", `${portfolio.path}/signature`, { key, body: { chainIds: [arbitrum] } }),
        PortfolioNotFound
      )
      assertError(yield* call("POST", portfolio.path, { key, body }), PortfolioNotFound)
      const unknown = "/v2/portfolios/pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8/chains"
      assertError(yield* call("POST", unknown, { key: portfolio.key, body }), PortfolioNotFound)
      assert.strictEqual((yield* accountsOf(portfolio.key, portfolio.portfolioId)).length, 1)
    })
  )

  const badBodies: ReadonlyArray<readonly [what: string, changes: Record<string, unknown>, detail: string]> = [
    ["an unknown key", { strategyId: "01JQ8ZKX4V6T3M9N2C5B7D8F0G" }, "strategyId: "],
    ["a short signature", { signature: "0x1b" }, "signature: "],
    ["somebody else's signature", { signature: `0x${"00".repeat(65)}` }, "signature: does not recover"],
    ["another index than stage 1 gave", { accountIndex: "7" }, "accountIndex: differs"],
    ["a number as index", { accountIndex: 0 }, "accountIndex: "],
    ["only chains that are active", { chainIds: [base] }, "chainIds: differs"],
    ["a chain more", { chainIds: [arbitrum, 1] }, "chainIds: differs"],
    [
      "another agent",
      { agentAccountId: "eip155:0:0x52908400098527886E0F7030069857D2E4169EE7" },
      "agentAccountId: differs"
    ],
    ["an unknown flow", { flowId: "flow_01JQ8ZN1S3T5V7W9Y1A3C5E7G9" }, "flowId: unknown or expired"]
  ]

  for (const [what, changes, detail] of badBodies) {
    it.effect(`stage 2 refuses ${what}, and adds nothing`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const portfolio = yield* enrolled()
        const body = { ...(yield* prepare(portfolio)), ...changes }
        assertError(yield* call("POST", portfolio.path, { key: portfolio.key, body }), ValidationFailed, detail)
        assert.strictEqual((yield* accountsOf(portfolio.key, portfolio.portfolioId)).length, 1)
      })
    )
  }

  it.effect("a wrong signature leaves the flow open: the right one then adds the chain", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const portfolio = yield* enrolled()
      const body = yield* prepare(portfolio)
      const wrong = { ...body, signature: `0x${"00".repeat(65)}` }
      assertError(yield* call("POST", portfolio.path, { key: portfolio.key, body: wrong }), ValidationFailed)
      assert.strictEqual((yield* call("POST", portfolio.path, { key: portfolio.key, body })).status, 200)
      assert.lengthOf(yield* accountsOf(portfolio.key, portfolio.portfolioId), 2)
    })
  )

  it.effect("a manual rebalance while one waits for the owner answers the one that waits", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const portfolio = yield* enrolled("ECDSA", [base, arbitrum])
      yield* awaitOwner(portfolio)
      const path = `/v2/portfolios/${portfolio.portfolioId}`
      const first = yield* call("POST", `${path}/rebalance`, { key: portfolio.key })
      const { transition } = yield* OperationStore
      for (const state of ["running", "awaiting_user"] as const) {
        yield* transition({ operationId: first.json.data.operationId, to: state, at: yield* DateTime.now, error: null })
      }
      ;(yield* MovableClock).advance(120_000)
      const second = yield* call("POST", `${path}/rebalance`, { key: portfolio.key })
      assert.strictEqual(second.status, 202)
      assert.deepStrictEqual(second.json, first.json)
    })
  )

  it.effect("a flow serves the route and the portfolio that it was issued for", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const [one, other] = [yield* enrolled(), yield* enrolled()]
      const activation = yield* prepare(one)
      const enrollment = yield* call("POST", "/v2/enroll/signature", {
        key: one.key,
        body: { ...one.draft, strategyId: yield* newStrategy(one), chainIds: [arbitrum] }
      })
      const { accountIndex, agentAccountId, flowId } = enrollment.json.data
      const issued = { accountIndex, agentAccountId, flowId, signature: ownerSignature }
      const wrong = [
        yield* call("POST", "/v2/enroll", { key: one.key, body: { ...one.draft, ...activation } }),
        yield* call("POST", one.path, { key: one.key, body: { chainIds: [arbitrum], ...issued } })
      ]
      for (const answer of wrong) assertError(answer, ValidationFailed, "flowId: issued for another purpose")
      assertError(
        yield* call("POST", other.path, { key: other.key, body: activation }),
        ValidationFailed,
        "flowId: unknown or expired"
      )
      assert.strictEqual((yield* call("POST", one.path, { key: one.key, body: activation })).status, 200)
    })
  )

  it.effect("the same body again is answered the same, byte for byte, whatever happened since", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const portfolio = yield* enrolled()
      const body = yield* prepare(portfolio)
      const first = yield* call("POST", portfolio.path, { key: portfolio.key, body })
      yield* call("POST", `/v2/portfolios/${portfolio.portfolioId}/stop`, { key: portfolio.key })
      const second = yield* call("POST", portfolio.path, { key: portfolio.key, body })
      assert.strictEqual(second.text, first.text)
      assert.strictEqual(second.json.data.schedule.status, "active")
      const named = { ...body, chainIds: [base, arbitrum] }
      assertError(yield* call("POST", portfolio.path, { key: portfolio.key, body: named }), ReplayMismatch)
    })
  )

  it.effect("the same body while the first is in progress is answered API_007", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const environment = yield* TestEnvironment
      const portfolio = yield* enrolled()
      const body = yield* prepare(portfolio)
      const [reached, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      environment.beforeSignature = Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(released))
      const first = yield* Effect.forkChild(call("POST", portfolio.path, { key: portfolio.key, body }))
      yield* Deferred.await(reached)
      assertError(yield* call("POST", portfolio.path, { key: portfolio.key, body }), ReplayInProgress)
      environment.beforeSignature = Effect.void
      yield* Deferred.succeed(released, undefined)
      assert.strictEqual((yield* Fiber.join(first)).status, 200)
    })
  )

  it.effect("of two activations of one chain the second is refused, for good", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const portfolio = yield* enrolled()
      const [one, other] = [yield* prepare(portfolio), yield* prepare(portfolio)]
      const answers = yield* Effect.forEach([one, other], (body) =>
        call("POST", portfolio.path, { key: portfolio.key, body })
      )
      assert.strictEqual(answers[0]!.status, 200)
      assertError(answers[1]!, ValidationFailed, "chainIds: already active")
      const again = yield* call("POST", portfolio.path, { key: portfolio.key, body: other })
      assert.strictEqual(again.text, answers[1]!.text)
      assert.strictEqual((yield* accountsOf(portfolio.key, portfolio.portfolioId)).length, 2)
    })
  )

  it.effect("a chain whose run waits for the owner is authorized anew, once, and keeps its account", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const portfolio = yield* enrolled("ECDSA", [base, arbitrum])
      const before = yield* accountsOf(portfolio.key, portfolio.portfolioId)
      assert.isTrue(yield* awaitOwner(portfolio))
      // Of the two only the one that waits is signed for.
      const [body, late] = [yield* prepare(portfolio, [base, arbitrum]), yield* prepare(portfolio, [base])]
      const answer = yield* call("POST", portfolio.path, { key: portfolio.key, body })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepStrictEqual(yield* accountsOf(portfolio.key, portfolio.portfolioId), before)
      assert.lengthOf(yield* permissionsOf(portfolio.portfolioId, base), 2)
      assert.lengthOf(yield* permissionsOf(portfolio.portfolioId, arbitrum), 1)
      assertError(
        yield* call("POST", portfolio.path, { key: portfolio.key, body: late }),
        ValidationFailed,
        "chainIds: already active"
      )
      assertError(
        yield* call("POST", `${portfolio.path}/signature`, { key: portfolio.key, body: { chainIds: [base] } }),
        ValidationFailed,
        "chainIds: already active"
      )
    })
  )

  it.effect("a contract signs anew for its chain, as long as its chain can be asked", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const environment = yield* TestEnvironment
      const portfolio = yield* enrolled("ERC1271")
      assert.isTrue(yield* awaitOwner(portfolio))
      const stage1 = { key: portfolio.key, body: { chainIds: [base] } }
      environment.verifierDown = true
      assertError(yield* call("POST", `${portfolio.path}/signature`, stage1), VerifierUnavailable)
      environment.verifierDown = false
      const body = yield* prepare(portfolio, [base])
      environment.verifierDown = true
      assertError(yield* call("POST", portfolio.path, { key: portfolio.key, body }), VerifierUnavailable)
      environment.verifierDown = false
      assert.lengthOf(yield* permissionsOf(portfolio.portfolioId, base), 1)
      assert.strictEqual((yield* call("POST", portfolio.path, { key: portfolio.key, body })).status, 200)
      assert.lengthOf(yield* permissionsOf(portfolio.portfolioId, base), 2)
    })
  )

  it.effect("a flow ends after 24 hours", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const portfolio = yield* enrolled()
      const body = yield* prepare(portfolio)
      ;(yield* MovableClock).advance(24 * 3_600_000)
      assertError(
        yield* call("POST", portfolio.path, { key: portfolio.key, body }),
        ValidationFailed,
        "flowId: unknown or expired"
      )
    })
  )
})

import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import {
  PermissionDenied,
  PortfolioExists,
  ReplayInProgress,
  ReplayMismatch,
  ValidationFailed
} from "#domain/errors/Errors.ts"
import { enroll, newOwner, newStrategy, newTenant, prepare } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError } from "#test/api/support/assertions.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { TestEnvironment } from "#test/api/support/TestEnvironment.ts"

const solanaId = 1399811149
const solanaOwner = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRuDpvcMwJeK"
const otherSignature = `0x${"00".repeat(65)}`

/** A tenant with a strategy, and the body of stage 1 for a new owner. */
const stage1 = Effect.fnUntraced(function* (entitlements: ReadonlyArray<string> = []) {
  const actor = yield* newTenant(entitlements)
  const strategyId = yield* newStrategy(actor)
  return {
    actor,
    strategyId,
    body: { ownerAccountId: newOwner(), strategyId, chainIds: [8453] as ReadonlyArray<unknown> }
  }
})

layer(ApiLive, { excludeTestServices: true })("enrollment", (it) => {
  it.effect("stage 1 answers what the wallet signs and what comes back", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { actor, body } = yield* stage1()
      const answer = yield* call("POST", "/v2/enroll/signature", { key: actor.key, body })
      assertData(answer, 200, ["message", "agentAccountId", "accountIndex", "accountType", "flowId"])
      const { message, agentAccountId, accountIndex, accountType, flowId } = answer.json.data
      assert.deepStrictEqual(Object.keys(message), ["kind", "raw"])
      assert.strictEqual(message.kind, "ecdsa")
      assert.match(message.raw, /^0x[0-9a-f]{64}$/)
      assert.match(agentAccountId, /^eip155:0:0x[0-9a-fA-F]{40}$/)
      assert.strictEqual(accountIndex, "0")
      assert.strictEqual(accountType, "ECDSA")
      assert.match(flowId, /^flow_[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
    })
  )

  it.effect("the index is peeked: it stays until stage 2 commits", () =>
    Effect.gen(function* () {
      const { actor, strategyId } = yield* stage1()
      const owner = newOwner()
      assert.strictEqual((yield* prepare(actor, strategyId, owner)).accountIndex, "0")
      const body = yield* prepare(actor, strategyId, owner)
      assert.strictEqual(body.accountIndex, "0")
      const { call } = yield* Api
      assert.strictEqual((yield* call("POST", "/v2/enroll", { key: actor.key, body })).status, 201)
      const second = yield* newStrategy(actor)
      assert.strictEqual((yield* prepare(actor, second, owner)).accountIndex, "1")
    })
  )

  const refused: ReadonlyArray<
    readonly [what: string, changes: Record<string, unknown>, ...details: ReadonlyArray<string | RegExp>]
  > = [
    ["an unknown key", { owner: 1 }, "owner: "],
    ["no chains", { chainIds: [] }, "chainIds: "],
    ["a chain twice", { chainIds: [8453, 8453] }, "chainIds: "],
    ["eleven chains", { chainIds: Array.from({ length: 11 }, (_, index) => index + 1) }, "chainIds: "],
    ["a chain as text", { chainIds: ["8453"] }, "chainIds.0: "],
    ["an unsupported chain, listing those that are", { chainIds: [1] }, "chainIds: unsupported 1", /8453, 42161/],
    [
      "an owner on one chain",
      { ownerAccountId: "eip155:1:0x52908400098527886E0F7030069857D2E4169EE7" },
      "ownerAccountId: "
    ],
    ["a bare address", { ownerAccountId: "0x52908400098527886E0F7030069857D2E4169EE7" }, "ownerAccountId: "],
    ["a contract wallet that is not there", { accountType: "ERC1271" }, "ownerAccountId: has no code"],
    ["an unknown account type", { accountType: "BLS" }, "accountType: "],
    ["an unknown strategy", { strategyId: "01JQ8ZKX4V6T3M9N2C5B7D8F0G" }, "strategyId: unknown"],
    ["a strategy id of another form", { strategyId: "x" }, "strategyId: "]
  ]

  for (const [what, changes, ...details] of refused) {
    it.effect(`stage 1 refuses ${what}`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const { actor, body } = yield* stage1()
        assertError(
          yield* call("POST", "/v2/enroll/signature", { key: actor.key, body: { ...body, ...changes } }),
          ValidationFailed,
          ...details
        )
      })
    )
  }

  it.effect("a private strategy of another tenant does not exist at stage 1, a public one does", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { strategyId, actor } = yield* stage1()
      const open = yield* newStrategy(actor, { isPublic: true })
      const stranger = yield* newTenant()
      const body = { ownerAccountId: newOwner(), chainIds: [8453] }
      assertError(
        yield* call("POST", "/v2/enroll/signature", { key: stranger.key, body: { ...body, strategyId } }),
        ValidationFailed,
        "strategyId: "
      )
      yield* enroll(stranger, open)
    })
  )

  it.effect("Solana without the entitlement is forbidden, with it not supported", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const plain = yield* stage1()
      const entitled = yield* stage1(["svm_b2b_api"])
      for (const changes of [
        { chainIds: [solanaId] },
        { chainIds: [solanaId], ownerAccountId: solanaOwner },
        { ownerAccountId: solanaOwner }
      ]) {
        const forbidden = yield* call("POST", "/v2/enroll/signature", {
          key: plain.actor.key,
          body: { ...plain.body, ...changes }
        })
        assertError(forbidden, PermissionDenied)
        assert.include(forbidden.json.error.message, "svm_b2b_api")
        const unsupported = yield* call("POST", "/v2/enroll/signature", {
          key: entitled.actor.key,
          body: { ...entitled.body, ...changes }
        })
        const isOnSolana = "chainIds" in changes
        assertError(
          unsupported,
          ValidationFailed,
          ...(isOnSolana
            ? [`chainIds: unsupported ${solanaId}`, "chainIds: supported 8453, 42161"]
            : ["ownerAccountId: "])
        )
      }
    })
  )

  it.effect("chains of two namespaces, and chains that are not supported, are refused before any entitlement", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { actor, body } = yield* stage1()
      for (const ownerAccountId of [body.ownerAccountId, solanaOwner]) {
        const at = (chainIds: ReadonlyArray<number>) =>
          call("POST", "/v2/enroll/signature", { key: actor.key, body: { ...body, ownerAccountId, chainIds } })
        assertError(yield* at([8453, solanaId]), ValidationFailed, "chainIds: expected EVM chain ids only")
        assertError(yield* at([1]), ValidationFailed, "chainIds: unsupported 1", "chainIds: supported 8453, 42161")
      }
    })
  )

  it.effect("stage 2 makes the portfolio", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { actor, strategyId } = yield* stage1()
      const body = {
        ...(yield* prepare(actor, strategyId)),
        accountType: "ECDSA",
        portfolioName: "  Ersparnis (Ü): a & b / c_d-e.f's  "
      }
      const answer = yield* call("POST", "/v2/enroll", { key: actor.key, body })
      assertData(answer, 201, ["portfolioId", "portfolioName", "strategyId", "smartAccounts"])
      const { portfolioId, portfolioName, smartAccounts } = answer.json.data
      assert.match(portfolioId, /^pf_[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
      assert.strictEqual(portfolioName, "Ersparnis (Ü): a & b / c_d-e.f's")
      assert.strictEqual(answer.json.data.strategyId, strategyId)
      assert.strictEqual(smartAccounts.length, 2)
      for (const account of smartAccounts) {
        assert.deepStrictEqual(Object.keys(account), ["accountId"])
        assert.match(account.accountId, /^eip155:(8453|42161):0x[0-9a-fA-F]{40}$/)
      }
    })
  )

  it.effect("without a name the portfolio's is null", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { actor, strategyId } = yield* stage1()
      const { json } = yield* call("POST", "/v2/enroll", { key: actor.key, body: yield* prepare(actor, strategyId) })
      assert.isNull(json.data.portfolioName)
    })
  )

  const badBodies: ReadonlyArray<
    readonly [what: string, changes: Record<string, unknown>, ...details: ReadonlyArray<string | RegExp>]
  > = [
    ["an unknown key", { signedSolanaTransaction: "AA==" }, "signedSolanaTransaction: "],
    ["a number as index", { accountIndex: 0 }, "accountIndex: "],
    ["a short signature", { signature: "0x1b" }, "signature: "],
    ["no signature", { signature: undefined }, "signature: "],
    ["another account type than stage 1 had", { accountType: "ERC1271" }, "accountType: differs"],
    ["an empty name", { portfolioName: "   " }, "portfolioName: "],
    ["a long name", { portfolioName: "x".repeat(65) }, "portfolioName: "],
    ["a name with other signs", { portfolioName: "<b>" }, "portfolioName: "],
    ["a flow id of another form", { flowId: "flow_x" }, "flowId: "],
    ["an unknown flow", { flowId: "flow_01JQ8ZN1S3T5V7W9Y1A3C5E7G9" }, "flowId: unknown or expired"],
    ["another index than stage 1 gave", { accountIndex: "7" }, "accountIndex: differs"],
    ["other chains than stage 1 had", { chainIds: [8453] }, "chainIds: differs"],
    ["the chains in another order", { chainIds: [42161, 8453] }, "chainIds: differs"],
    [
      "another agent",
      { agentAccountId: "eip155:0:0x52908400098527886E0F7030069857D2E4169EE7" },
      "agentAccountId: differs"
    ],
    ["somebody else's signature", { signature: otherSignature }, "signature: does not recover"]
  ]

  for (const [what, changes, ...details] of badBodies) {
    it.effect(`stage 2 refuses ${what}, and makes nothing`, () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const { actor, strategyId } = yield* stage1()
        const body = { ...(yield* prepare(actor, strategyId)), ...changes }
        assertError(yield* call("POST", "/v2/enroll", { key: actor.key, body }), ValidationFailed, ...details)
        assert.deepStrictEqual((yield* call("GET", "/v2/portfolios", { key: actor.key })).json.data.portfolios, [])
      })
    )
  }

  it.effect("the same body again is answered the same, byte for byte", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { actor, strategyId } = yield* stage1()
      const body = yield* prepare(actor, strategyId)
      const first = yield* call("POST", "/v2/enroll", { key: actor.key, body })
      const second = yield* call("POST", "/v2/enroll", { key: actor.key, body })
      assert.strictEqual(second.status, 201)
      assert.strictEqual(second.text, first.text)
      assert.strictEqual((yield* call("GET", "/v2/portfolios", { key: actor.key })).json.data.portfolios.length, 1)
    })
  )

  it.effect("a refused signature is refused again, even when the body repeats", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { actor, strategyId } = yield* stage1()
      const body = { ...(yield* prepare(actor, strategyId)), signature: otherSignature }
      const first = yield* call("POST", "/v2/enroll", { key: actor.key, body })
      const second = yield* call("POST", "/v2/enroll", { key: actor.key, body })
      assert.strictEqual(second.text, first.text)
    })
  )

  it.effect("a wrong signature leaves the flow open: the right one then makes the portfolio", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { actor, strategyId } = yield* stage1()
      const body = yield* prepare(actor, strategyId)
      const wrong = { ...body, signature: otherSignature }
      for (let attempt = 0; attempt < 2; attempt += 1) {
        assertError(yield* call("POST", "/v2/enroll", { key: actor.key, body: wrong }), ValidationFailed, "signature: ")
      }
      const made = yield* call("POST", "/v2/enroll", { key: actor.key, body })
      assert.strictEqual(made.status, 201, made.text)
      assertError(yield* call("POST", "/v2/enroll", { key: actor.key, body: wrong }), ReplayMismatch)
      assert.strictEqual((yield* call("POST", "/v2/enroll", { key: actor.key, body })).text, made.text)
    })
  )

  it.effect(
    "stage 2 refuses a strategy that became private after stage 1, stores nothing, and takes it once public",
    () =>
      Effect.gen(function* () {
        const { call } = yield* Api
        const { actor } = yield* stage1()
        const strategyId = yield* newStrategy(actor, { isPublic: true })
        const stranger = yield* newTenant()
        const body = yield* prepare(stranger, strategyId)
        const setPublic = (isPublic: boolean) =>
          call("PATCH", `/v2/strategies/${strategyId}`, { key: actor.key, body: { isPublic } })
        yield* setPublic(false)
        assertError(
          yield* call("POST", "/v2/enroll", { key: stranger.key, body }),
          ValidationFailed,
          "strategyId: unknown strategy"
        )
        assert.deepStrictEqual((yield* call("GET", "/v2/portfolios", { key: stranger.key })).json.data.portfolios, [])
        assert.strictEqual(
          (yield* prepare(stranger, yield* newStrategy(stranger), body.ownerAccountId)).accountIndex,
          "0"
        )
        yield* setPublic(true)
        assert.strictEqual((yield* call("POST", "/v2/enroll", { key: stranger.key, body })).status, 201)
      })
  )

  it.effect("the same flow with another body is a conflict", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { actor, strategyId } = yield* stage1()
      const body = yield* prepare(actor, strategyId)
      yield* call("POST", "/v2/enroll", { key: actor.key, body })
      assertError(
        yield* call("POST", "/v2/enroll", { key: actor.key, body: { ...body, portfolioName: "Other" } }),
        ReplayMismatch
      )
    })
  )

  it.effect("the same body while the first is in progress is answered API_007", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const environment = yield* TestEnvironment
      const { actor, strategyId } = yield* stage1()
      const body = yield* prepare(actor, strategyId)
      const [reached, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      environment.beforeSignature = Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(released))
      const first = yield* Effect.forkChild(call("POST", "/v2/enroll", { key: actor.key, body }))
      yield* Deferred.await(reached)
      assertError(yield* call("POST", "/v2/enroll", { key: actor.key, body }), ReplayInProgress)
      environment.beforeSignature = Effect.void
      yield* Deferred.succeed(released, undefined)
      assert.strictEqual((yield* Fiber.join(first)).status, 201)
    })
  )

  it.effect("an owner enrolls once into a strategy", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { actor, strategyId } = yield* stage1()
      const owner = newOwner()
      const [first, second] = [yield* prepare(actor, strategyId, owner), yield* prepare(actor, strategyId, owner)]
      yield* call("POST", "/v2/enroll", { key: actor.key, body: first })
      assertError(yield* call("POST", "/v2/enroll", { key: actor.key, body: second }), PortfolioExists)
    })
  )

  it.effect("an owner who is enrolled already is refused before anything is signed, with the portfolio's id", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { actor, body, strategyId } = yield* stage1()
      const signed = yield* prepare(actor, strategyId, body.ownerAccountId)
      const { portfolioId } = (yield* call("POST", "/v2/enroll", { key: actor.key, body: signed })).json.data
      const again = yield* call("POST", "/v2/enroll/signature", { key: actor.key, body })
      assertError(again, PortfolioExists, `portfolioId: ${portfolioId}`)
      // Another strategy, and another owner, are not in its way.
      const other = { ...body, strategyId: yield* newStrategy(actor) }
      assert.strictEqual((yield* call("POST", "/v2/enroll/signature", { key: actor.key, body: other })).status, 200)
      const stranger = { ...body, ownerAccountId: newOwner() }
      assert.strictEqual((yield* call("POST", "/v2/enroll/signature", { key: actor.key, body: stranger })).status, 200)
    })
  )

  it.effect("another tenant cannot use the flow", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { actor, strategyId } = yield* stage1()
      const body = yield* prepare(actor, strategyId)
      const stranger = yield* newTenant()
      assertError(
        yield* call("POST", "/v2/enroll", { key: stranger.key, body }),
        ValidationFailed,
        "flowId: unknown or expired"
      )
    })
  )

  it.effect("a flow ends after 24 hours", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { actor, strategyId } = yield* stage1()
      const body = yield* prepare(actor, strategyId)
      ;(yield* MovableClock).advance(24 * 3_600_000)
      assertError(
        yield* call("POST", "/v2/enroll", { key: actor.key, body }),
        ValidationFailed,
        "flowId: unknown or expired"
      )
    })
  )
})

/** Enrollment of owners that are contracts (ERC-1271). Source: interface "enroll/signature", shapes 2.15 and 2.16. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { PortfolioExists, ReplayMismatch, ValidationFailed, VerifierUnavailable } from "#domain/errors/Errors.ts"
import { newOwner, newStrategy, newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError } from "#test/api/support/assertions.ts"
import { ownerSignature, TestEnvironment } from "#test/api/support/TestEnvironment.ts"

/** A tenant with a strategy, and stage 1 for an owner that is a contract. */
const stage1 = Effect.gen(function* () {
  const actor = yield* newTenant()
  const strategyId = yield* newStrategy(actor)
  const ownerAccountId = newOwner()
  const environment = yield* TestEnvironment
  environment.verifierDown = false
  environment.contractOwners = new Set([...environment.contractOwners, ownerAccountId])
  return { actor, environment, draft: { ownerAccountId, strategyId, chainIds: [8453], accountType: "ERC1271" } }
})

/** The body of stage 2. */
const prepared = Effect.gen(function* () {
  const { call } = yield* Api
  const { actor, draft, environment } = yield* stage1
  const answer = yield* call("POST", "/v2/enroll/signature", { key: actor.key, body: draft })
  assert.strictEqual(answer.status, 200, answer.text)
  const { accountIndex, agentAccountId, flowId } = answer.json.data
  const body = { ...draft, flowId, accountIndex, agentAccountId, signature: ownerSignature }
  return { actor, environment, body, issued: answer.json.data }
})

const portfoliosOf = Effect.fnUntraced(function* (key: string) {
  const { call } = yield* Api
  return (yield* call("GET", "/v2/portfolios", { key })).json.data.portfolios as ReadonlyArray<unknown>
})

layer(ApiLive, { excludeTestServices: true })("enrollment of contract wallets", (it) => {
  it.effect("stage 1 answers typed data of the account, stage 2 makes the portfolio", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { actor, body, issued } = yield* prepared
      assert.deepStrictEqual(Object.keys(issued).sort(), [
        "accountIndex",
        "accountType",
        "agentAccountId",
        "flowId",
        "message"
      ])
      assert.strictEqual(issued.accountType, "ERC1271")
      const { kind, typedData } = issued.message
      assert.strictEqual(kind, "typed-data")
      assert.match(typedData.message.hash, /^0x[0-9a-f]{64}$/)
      const answer = yield* call("POST", "/v2/enroll", { key: actor.key, body })
      assertData(answer, 201, ["portfolioId", "portfolioName", "strategyId", "smartAccounts"])
      const [{ accountId }] = answer.json.data.smartAccounts
      assert.deepStrictEqual(typedData, {
        domain: { name: "Kernel", version: "0.3.1", chainId: 8453, verifyingContract: accountId.split(":")[2] },
        types: { Kernel: [{ name: "hash", type: "bytes32" }] },
        primaryType: "Kernel",
        message: typedData.message
      })
      const again = yield* call("POST", "/v2/enroll", { key: actor.key, body })
      assert.strictEqual(again.text, answer.text)
    })
  )

  it.effect("stage 1 refuses several chains, an owner without code, and an unsupported chain", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { actor, draft } = yield* stage1
      const refused: ReadonlyArray<readonly [changes: Record<string, unknown>, detail: string]> = [
        [{ chainIds: [8453, 42161] }, "chainIds: expected exactly one"],
        [{ ownerAccountId: newOwner() }, "ownerAccountId: has no code"],
        [{ chainIds: [1] }, "chainIds: unsupported 1"],
        [{ accountType: "erc1271" }, "accountType: "]
      ]
      for (const [changes, detail] of refused) {
        const answer = yield* call("POST", "/v2/enroll/signature", { key: actor.key, body: { ...draft, ...changes } })
        assertError(answer, ValidationFailed, detail)
      }
    })
  )

  it.effect("stage 1 is refused while the chain does not answer, and keeps nothing", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { actor, draft, environment } = yield* stage1
      environment.verifierDown = true
      assertError(yield* call("POST", "/v2/enroll/signature", { key: actor.key, body: draft }), VerifierUnavailable)
      environment.verifierDown = false
      const answer = yield* call("POST", "/v2/enroll/signature", { key: actor.key, body: draft })
      assert.strictEqual(answer.json.data.accountIndex, "0")
    })
  )

  it.effect("stage 2 lets go while the chain does not answer: the same body, or another, is taken afterwards", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { actor, body, environment } = yield* prepared
      environment.verifierDown = true
      for (let attempt = 0; attempt < 2; attempt++) {
        assertError(yield* call("POST", "/v2/enroll", { key: actor.key, body }), VerifierUnavailable)
      }
      assert.deepStrictEqual(yield* portfoliosOf(actor.key), [])
      environment.verifierDown = false
      const named = { ...body, portfolioName: "Safe" }
      assert.strictEqual((yield* call("POST", "/v2/enroll", { key: actor.key, body: named })).status, 201)
      assertError(yield* call("POST", "/v2/enroll", { key: actor.key, body }), ReplayMismatch)
    })
  )

  it.effect("stage 2 takes a signature of up to 4,096 bytes, and says whose signature counts when it is refused", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { actor, body } = yield* prepared
      const tooLong = { ...body, signature: `0x${"ab".repeat(4_097)}` }
      assertError(yield* call("POST", "/v2/enroll", { key: actor.key, body: tooLong }), ValidationFailed, "signature: ")
      const odd = { ...body, signature: "0xabc" }
      assertError(yield* call("POST", "/v2/enroll", { key: actor.key, body: odd }), ValidationFailed, "signature: ")
      const wrong = { ...body, signature: `0x${"ab".repeat(4_096)}` }
      const refused = yield* call("POST", "/v2/enroll", { key: actor.key, body: wrong })
      assertError(refused, ValidationFailed, "signature: refused by isValidSignature")
      assert.strictEqual((yield* call("POST", "/v2/enroll", { key: actor.key, body: wrong })).text, refused.text)
      assert.deepStrictEqual(yield* portfoliosOf(actor.key), [])
    })
  )

  it.effect("the account type is sent in both stages", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { actor, body } = yield* prepared
      const { accountType: _, ...without } = body
      assertError(
        yield* call("POST", "/v2/enroll", { key: actor.key, body: without }),
        ValidationFailed,
        "accountType: differs from stage 1"
      )
      assert.strictEqual((yield* call("POST", "/v2/enroll", { key: actor.key, body })).status, 201)
    })
  )

  it.effect("enrolls once into a strategy", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { actor, body } = yield* prepared
      const { chainIds, accountType, ownerAccountId, strategyId } = body
      const stage1 = call("POST", "/v2/enroll/signature", {
        key: actor.key,
        body: { chainIds, accountType, ownerAccountId, strategyId }
      })
      const { accountIndex, agentAccountId, flowId } = (yield* stage1).json.data
      yield* call("POST", "/v2/enroll", { key: actor.key, body })
      assertError(
        yield* call("POST", "/v2/enroll", {
          key: actor.key,
          body: { ...body, flowId, accountIndex, agentAccountId }
        }),
        PortfolioExists
      )
      assertError(yield* stage1, PortfolioExists, "portfolioId: pf_")
    })
  )
})

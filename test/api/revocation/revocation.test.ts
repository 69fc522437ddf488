/**
 * The end of the agent's permissions by the owner's signature, and signing anew after it. Source: decisions 115 and
 * 116.
 */
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import {
  PortfolioNotFound,
  ReplayInProgress,
  ReplayMismatch,
  ValidationFailed,
  VerifierUnavailable
} from "#domain/errors/Errors.ts"
import { type Actor, enrolledUser, newOwner, newStrategy, newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError } from "#test/api/support/assertions.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { ownerSignature, TestEnvironment } from "#test/api/support/TestEnvironment.ts"

const unknown = "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8"

interface User extends Pick<Actor, "key"> {
  readonly portfolioId: string
}

const post = Effect.fnUntraced(function* ({ key, portfolioId }: User, route: string, body: unknown = {}) {
  return yield* (yield* Api).call("POST", `/v2/portfolios/${portfolioId}/${route}`, { key, body })
})

const pauseReasonOf = Effect.fnUntraced(function* ({ key, portfolioId }: User) {
  const { json } = yield* (yield* Api).call("GET", `/v2/portfolios/${portfolioId}`, { key })
  const { pauseReason, status } = json.data.schedule
  return [status, pauseReason]
})

/** Stage 1; answers the body of stage 2. */
const prepare = Effect.fnUntraced(function* (user: User, body: unknown = {}) {
  const answer = yield* post(user, "revoke/signature", body)
  assert.strictEqual(answer.status, 200, answer.text)
  return { flowId: answer.json.data.flowId as string, signature: ownerSignature }
})

/** Stage 1 of signing anew; answers the body of stage 2. */
const prepareAnew = Effect.fnUntraced(function* (user: User, chainIds?: ReadonlyArray<number>) {
  const answer = yield* post(user, "resign/signature", chainIds === undefined ? {} : { chainIds })
  assert.strictEqual(answer.status, 200, answer.text)
  const { accountIndex, agentAccountId, flowId } = answer.json.data
  return { chainIds: chainIds ?? [8453, 42161], accountIndex, agentAccountId, flowId, signature: ownerSignature }
})

/** Ends the operation as its run would. */
const complete = Effect.fnUntraced(function* (operationId: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE operations SET state = 'completed', finished_at = updated_at WHERE operation_id = ${operationId}`
})

/** A user whose wallet is a contract, on one chain. */
const contractUser = Effect.fnUntraced(function* () {
  const { call } = yield* Api
  const actor = yield* newTenant()
  const strategyId = yield* newStrategy(actor)
  const ownerAccountId = newOwner()
  const environment = yield* TestEnvironment
  environment.contractOwners = new Set([ownerAccountId])
  const draft = { ownerAccountId, strategyId, chainIds: [8453], accountType: "ERC1271" }
  const { accountIndex, agentAccountId, flowId } = (yield* call("POST", "/v2/enroll/signature", {
    key: actor.key,
    body: draft
  })).json.data
  const body = { ...draft, accountIndex, agentAccountId, flowId, signature: ownerSignature }
  const { portfolioId } = (yield* call("POST", "/v2/enroll", { key: actor.key, body })).json.data
  return { ...actor, portfolioId: portfolioId as string }
})

layer(ApiLive, { excludeTestServices: true })("revocation", (it) => {
  it.effect("stage 1 issues one message for all chains and changes nothing", () =>
    Effect.gen(function* () {
      const user = yield* enrolledUser()
      const answer = yield* post(user, "revoke/signature")
      assertData(answer, 200, ["message", "accountType", "flowId", "smartAccounts", "expiresAt"])
      assert.strictEqual(answer.json.data.message.kind, "ecdsa")
      assert.lengthOf(answer.json.data.smartAccounts, 2)
      assert.deepStrictEqual(yield* pauseReasonOf(user), ["active", null])
      const contract = yield* contractUser()
      const typed = yield* post(contract, "revoke/signature")
      assert.strictEqual(typed.json.data.message.kind, "typed-data", typed.text)
    })
  )

  it.effect("stage 2 pauses the portfolio as revoked, and answers the operation to poll", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const user = yield* enrolledUser()
      const body = yield* prepare(user)
      const answer = yield* post(user, "revoke", body)
      assertData(answer, 202, ["operationId", "submittedAt"])
      assert.deepStrictEqual(yield* pauseReasonOf(user), ["paused", "revoked"])
      const { operationId } = answer.json.data
      const polled = yield* call("GET", `/v2/portfolios/${user.portfolioId}/operations/${operationId}`, {
        key: user.key
      })
      assert.deepInclude(polled.json.data, { kind: "revoke", state: "accepted" })
      for (const route of ["start", "rebalance"]) {
        assertError(yield* post(user, route), ValidationFailed, "portfolioId: revoked by its owner")
      }
      assert.deepStrictEqual(yield* pauseReasonOf(user), ["paused", "revoked"])
    })
  )

  it.effect("stage 2 is answered the same way again, and another signature is refused", () =>
    Effect.gen(function* () {
      const user = yield* enrolledUser()
      const body = yield* prepare(user)
      const first = yield* post(user, "revoke", body)
      assert.strictEqual((yield* post(user, "revoke", body)).text, first.text)
      const spelled = { ...body, signature: `0x${"1B".repeat(65)}` }
      assert.strictEqual((yield* post(user, "revoke", spelled)).text, first.text)
      assertError(yield* post(user, "revoke", { ...body, signature: `0x${"1c".repeat(65)}` }), ReplayMismatch)
    })
  )

  it.effect("of many requests with one body at the same time one starts the operation, and all are answered it", () =>
    Effect.gen(function* () {
      const user = yield* enrolledUser()
      const body = yield* prepare(user)
      const answers = yield* Effect.forEach(Array.from({ length: 12 }), () => post(user, "revoke", body), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        answers.map(() => 202)
      )
      assert.strictEqual(new Set(answers.map(({ json }) => json.data.operationId)).size, 1)
    })
  )

  it.effect("refuses what is not the owner's signature, and the right one is taken after it", () =>
    Effect.gen(function* () {
      const user = yield* enrolledUser()
      const body = yield* prepare(user)
      const wrong = { ...body, signature: `0x${"00".repeat(65)}` }
      assertError(yield* post(user, "revoke", wrong), ValidationFailed, "signature: does not recover")
      assert.deepStrictEqual(yield* pauseReasonOf(user), ["active", null])
      assert.strictEqual((yield* post(user, "revoke", body)).status, 202)
    })
  )

  it.effect("refuses flows that are unknown, of another portfolio, a day old, or followed by a later one", () =>
    Effect.gen(function* () {
      const clock = yield* MovableClock
      const [user, other] = [yield* enrolledUser(), yield* enrolledUser()]
      const foreign = yield* prepare(other)
      const first = yield* prepare(user)
      const second = yield* prepare(user)
      const nobodys = { ...first, flowId: "flow_01JQ8ZN1S3T5V7W9Y1A3C5E7G9" }
      for (const body of [nobodys, foreign, first]) {
        assertError(yield* post(user, "revoke", body), ValidationFailed, "flowId: unknown or expired")
      }
      clock.advance(86_400_001)
      assertError(yield* post(user, "revoke", second), ValidationFailed, "flowId: unknown or expired")
      assert.deepStrictEqual(yield* pauseReasonOf(user), ["active", null])
    })
  )

  it.effect("another tenant's portfolio does not exist, in any stage", () =>
    Effect.gen(function* () {
      const user = yield* enrolledUser()
      const [body, anew] = [yield* prepare(user), yield* prepareAnew(user)]
      const stranger = { ...user, key: (yield* newTenant()).key }
      for (const nobodys of [stranger, { ...user, portfolioId: unknown }]) {
        assertError(yield* post(nobodys, "revoke/signature"), PortfolioNotFound)
        assertError(yield* post(nobodys, "revoke", body), PortfolioNotFound)
        assertError(yield* post(nobodys, "resign/signature"), PortfolioNotFound)
        assertError(yield* post(nobodys, "resign", anew), PortfolioNotFound)
      }
      assert.deepStrictEqual(yield* pauseReasonOf(user), ["active", null])
    })
  )

  it.effect("names chains one by one, and has nothing to revoke twice", () =>
    Effect.gen(function* () {
      const user = yield* enrolledUser()
      assertError(
        yield* post(user, "revoke/signature", { chainIds: [1] }),
        ValidationFailed,
        "chainIds: not authorized"
      )
      assert.strictEqual((yield* post(user, "revoke", yield* prepare(user, { chainIds: [8453] }))).status, 202)
      const again = yield* post(user, "revoke/signature", { chainIds: [8453] })
      assertError(again, ValidationFailed, "chainIds: not authorized, or revoked 8453")
      const rest = yield* post(user, "revoke/signature")
      assert.deepStrictEqual(
        rest.json.data.smartAccounts.map(({ accountId }: { readonly accountId: string }) => accountId.split(":")[1]),
        ["42161"]
      )
      const { flowId } = rest.json.data
      assert.strictEqual((yield* post(user, "revoke", { flowId, signature: ownerSignature })).status, 202)
      assertError(yield* post(user, "revoke/signature"), ValidationFailed, "portfolioId: revoked on all of its chains")
    })
  )

  it.effect("answers 503 when a contract or a chain does not answer, and takes the same again afterwards", () =>
    Effect.gen(function* () {
      const environment = yield* TestEnvironment
      const user = yield* contractUser()
      const body = yield* prepare(user)
      environment.verifierDown = true
      assertError(yield* post(user, "revoke/signature"), VerifierUnavailable)
      assertError(yield* post(user, "revoke", body), VerifierUnavailable)
      environment.verifierDown = false
      assert.strictEqual((yield* post(user, "revoke", body)).status, 202)
    })
  )
})

layer(ApiLive, { excludeTestServices: true })("signing anew", (it) => {
  const permissionsOf = (portfolioId: string) =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql<{ readonly chain: number; readonly id: string }>`
        SELECT (chain ->> 'chainId')::int AS chain, chain ->> 'permissionId' AS id FROM grants
        CROSS JOIN jsonb_array_elements(authorization_document -> 'chains') AS chain
        WHERE portfolio_id = ${portfolioId} ORDER BY sequence`
    )

  it.effect("replaces the permissions of all chains; accounts and automation stay", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const user = yield* enrolledUser()
      const before = yield* call("GET", `/v2/portfolios/${user.portfolioId}`, { key: user.key })
      const stage1 = yield* post(user, "resign/signature")
      assertData(stage1, 200, ["message", "agentAccountId", "accountIndex", "accountType", "flowId"])
      const answer = yield* post(user, "resign", yield* prepareAnew(user))
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepStrictEqual(answer.json.data.smartAccounts, before.json.data.smartAccounts)
      assert.deepStrictEqual(yield* pauseReasonOf(user), ["active", null])
      const permissions = yield* permissionsOf(user.portfolioId)
      assert.deepStrictEqual(
        permissions.map(({ chain }) => chain),
        [8453, 42161, 8453, 42161]
      )
      assert.strictEqual(new Set(permissions.map(({ id }) => id)).size, 4)
    })
  )

  it.effect("is done for one chain alone, and for none that the portfolio has not", () =>
    Effect.gen(function* () {
      const user = yield* enrolledUser()
      const answer = yield* post(user, "resign", yield* prepareAnew(user, [42161]))
      assert.strictEqual(answer.status, 200, answer.text)
      assert.lengthOf(yield* permissionsOf(user.portfolioId), 3)
      assertError(yield* post(user, "resign/signature", { chainIds: [1] }), ValidationFailed, "chainIds: not active 1")
    })
  )

  it.effect("is answered the same way again, refuses another body, and a flow of another purpose", () =>
    Effect.gen(function* () {
      const user = yield* enrolledUser()
      const body = yield* prepareAnew(user)
      const first = yield* post(user, "resign", body)
      assert.strictEqual((yield* post(user, "resign", body)).text, first.text)
      assertError(yield* post(user, "resign", { ...body, signature: `0x${"1c".repeat(65)}` }), ReplayMismatch)
      const other = yield* prepareAnew(user)
      assertError(yield* post(user, "chains", other), ValidationFailed, "flowId: issued for another purpose")
      const revocation = yield* prepare(user)
      assertError(
        yield* post(user, "resign", { ...other, flowId: revocation.flowId }),
        ValidationFailed,
        "flowId: unknown or expired"
      )
    })
  )

  it.effect("waits for a revocation that is on its way, then lifts it; automation goes on when it is started", () =>
    Effect.gen(function* () {
      const user = yield* enrolledUser()
      const early = yield* prepareAnew(user)
      const { operationId } = (yield* post(user, "revoke", yield* prepare(user))).json.data
      assertError(yield* post(user, "resign/signature"), ValidationFailed, "portfolioId: is being revoked")
      // What was signed for before the revocation is void with it.
      assertError(yield* post(user, "resign", early), ValidationFailed, "portfolioId: revoked by its owner")
      yield* complete(operationId)
      const answer = yield* post(user, "resign", yield* prepareAnew(user))
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepStrictEqual(yield* pauseReasonOf(user), ["paused", "stopped"])
      assert.strictEqual((yield* post(user, "start")).status, 200)
      assert.deepStrictEqual(yield* pauseReasonOf(user), ["active", null])
      assert.strictEqual((yield* post(user, "revoke/signature")).status, 200)
    })
  )

  it.effect("a second request with the same body is refused because the first is in progress", () =>
    Effect.gen(function* () {
      const environment = yield* TestEnvironment
      const user = yield* enrolledUser()
      const body = yield* prepareAnew(user)
      const [reached, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      environment.beforeSignature = Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(released))
      const first = yield* Effect.forkChild(post(user, "resign", body))
      yield* Deferred.await(reached)
      assertError(yield* post(user, "resign", body), ReplayInProgress)
      environment.beforeSignature = Effect.void
      yield* Deferred.succeed(released, undefined)
      assert.strictEqual((yield* Fiber.join(first)).status, 200)
    })
  )

  it.effect("answers 503 when a contract does not answer, and takes the same again afterwards", () =>
    Effect.gen(function* () {
      const environment = yield* TestEnvironment
      const user = yield* contractUser()
      const answer = yield* post(user, "resign/signature")
      const { accountIndex, agentAccountId, flowId } = answer.json.data
      const body = { chainIds: [8453], accountIndex, agentAccountId, flowId, signature: ownerSignature }
      environment.verifierDown = true
      assertError(yield* post(user, "resign/signature"), VerifierUnavailable)
      assertError(yield* post(user, "resign", body), VerifierUnavailable)
      environment.verifierDown = false
      assert.strictEqual((yield* post(user, "resign", body)).status, 200)
    })
  )
})

/** The legacy routes by which an owner signs anew, over the flows of v2. Source: shapes 2.30, decision 165. */
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
import { type Actor, enrolledUser, newOwner, newStrategy, newTenant, prepare } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertError } from "#test/api/support/assertions.ts"
import { ownerSignature, TestEnvironment } from "#test/api/support/TestEnvironment.ts"
import { newWallet } from "#test/api/support/wallets.ts"

const unknown = "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8"

interface User extends Pick<Actor, "key"> {
  readonly portfolioId: string
}

const post = Effect.fnUntraced(function* ({ key, portfolioId }: User, route: string, body: unknown = {}) {
  return yield* (yield* Api).call("POST", `/v1/portfolio/${portfolioId}/${route}`, { key, body })
})

/** What `resign` issues, and the owner's signature: the body of the second route. */
const signed = Effect.fnUntraced(function* (user: User) {
  const answer = yield* post(user, "resign")
  assert.strictEqual(answer.status, 200, answer.text)
  return { signature: ownerSignature, signatureAction: answer.json.data.signatureAction }
})

const grantsOf = Effect.fnUntraced(function* (portfolioId: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly permissions: ReadonlyArray<string> }>`
    SELECT array(SELECT chain ->> 'permissionId' FROM jsonb_array_elements(authorization_document -> 'chains') chain)
      AS permissions FROM grants WHERE portfolio_id = ${portfolioId} ORDER BY sequence`
  return rows.map(({ permissions }) => permissions)
})

layer(ApiLive, { excludeTestServices: true })("legacy signatures", (it) => {
  it.effect("resign issues a consent line, an empty line and the 32 bytes, for all chains, and changes nothing", () =>
    Effect.gen(function* () {
      const user = yield* enrolledUser()
      const answer = yield* post(user, "resign")
      assert.strictEqual(answer.status, 200, answer.text)
      const { hash, signatureAction, ...data } = answer.json.data
      const [line, empty, bytes, ...rest] = signatureAction.message.split("\n")
      assert.include(line, user.portfolioId)
      assert.deepStrictEqual([empty, bytes, rest], ["", hash, []])
      assert.match(hash, /^0x[0-9a-f]{64}$/)
      assert.deepInclude(signatureAction, { reason: "portfolio-resign", type: "personal_sign" })
      assert.deepInclude(data, { signType: "personal_sign", chainIds: [8453, 42161], portfolioId: user.portfolioId })
      assert.deepStrictEqual(
        data.portfolioAddresses,
        user.smartAccounts.map((accountId) => {
          const [, chainId, address] = accountId.split(":")
          return { chainId: Number(chainId), address }
        })
      )
      assert.lengthOf(yield* grantsOf(user.portfolioId), 1)
    })
  )

  it.effect("resubmit-signature puts a new permission beside the old one, once, however often it is sent", () =>
    Effect.gen(function* () {
      const user = yield* enrolledUser()
      const body = yield* signed(user)
      const answers = yield* Effect.forEach(Array.from({ length: 8 }), () => post(user, "resubmit-signature", body), {
        concurrency: "unbounded"
      })
      const done = answers.filter(({ status }) => status === 200)
      assert.isAbove(done.length, 0)
      for (const answer of answers) if (answer.status !== 200) assertError(answer, ReplayInProgress)
      const again = yield* post(user, "resubmit-signature", body)
      assert.deepStrictEqual(again.json.data, done[0]!.json.data)
      assert.sameMembers(Object.keys(again.json.data), ["portfolioId", "userAddress", "message", "updatedAt", "vaults"])
      assert.deepStrictEqual(
        again.json.data.vaults.map(({ chainId }: any) => chainId),
        [8453, 42161]
      )
      const grants = yield* grantsOf(user.portfolioId)
      assert.lengthOf(grants, 2)
      assert.lengthOf(new Set(grants.flat()), 4, "no permission is named twice")
      assertError(
        yield* post(user, "resubmit-signature", { ...body, signature: `0x${"2c".repeat(65)}` }),
        ReplayMismatch
      )
    })
  )

  it.effect("what was not issued, was changed, or is not the owner's signature is refused and stores nothing", () =>
    Effect.gen(function* () {
      const [user, other] = [yield* enrolledUser(), yield* enrolledUser()]
      const body = yield* signed(user)
      const { signatureAction } = body
      const withMessage = (message: string) => ({ ...body, signatureAction: { ...signatureAction, message } })
      const messages = [
        "sign here",
        `${signatureAction.message} `,
        signatureAction.message.replace("go on managing", "give away"),
        signatureAction.message.replace(user.portfolioId, other.portfolioId),
        (yield* signed(other)).signatureAction.message
      ]
      for (const message of messages) {
        assertError(
          yield* post(user, "resubmit-signature", withMessage(message)),
          ValidationFailed,
          "signatureAction.message"
        )
      }
      assertError(
        yield* post(user, "resubmit-signature", { ...body, signature: `0x${"2c".repeat(65)}` }),
        ValidationFailed,
        "signature: does not recover to the owner over data.hash"
      )
      for (const broken of [{ ...body, signature: "0x12" }, { signatureAction }, { ...body, more: 1 }, {}]) {
        assertError(yield* post(user, "resubmit-signature", broken), ValidationFailed)
      }
      assertError(yield* post(user, "resign", { chainIds: [8453] }), ValidationFailed, "chainIds")
      assert.lengthOf(yield* grantsOf(user.portfolioId), 1)
      assert.strictEqual((yield* post(user, "resubmit-signature", body)).status, 200, "the flow stayed open")
    })
  )

  it.effect("a signature of the text is told from any other, and what to sign in its place is said", () =>
    Effect.gen(function* () {
      const wallet = newWallet()
      const actor = yield* newTenant()
      const body = yield* prepare(actor, yield* newStrategy(actor), `eip155:0:${wallet.address}`)
      const { portfolioId } = (yield* (yield* Api).call("POST", "/v2/enroll", { key: actor.key, body })).json.data
      const user = { key: actor.key, portfolioId }
      const { hash, signatureAction } = (yield* post(user, "resign")).json.data
      const refusals = [
        [
          wallet,
          signatureAction.message,
          "signature: is the owner's over the text of signatureAction.message, not over data.hash"
        ],
        [wallet, hash, "signature: is the owner's over the hex of data.hash as a text, not over data.hash"],
        [wallet, "another text", "signature: does not recover to the owner over data.hash"],
        [newWallet(), signatureAction.message, "signature: does not recover to the owner over data.hash"]
      ] as const
      for (const [signer, text, said] of refusals) {
        const signature = yield* Effect.promise(() => signer.signMessage({ message: text }))
        const answer = yield* post(user, "resubmit-signature", { signature, signatureAction })
        assertError(answer, ValidationFailed, said)
        assert.include(answer.text, "as raw bytes with EIP-191")
        assert.notInclude(answer.text, "stage")
      }
      assert.lengthOf(yield* grantsOf(portfolioId), 1)
    })
  )

  it.effect("another tenant's portfolio is answered like one that does not exist", () =>
    Effect.gen(function* () {
      const { key, ...user } = yield* enrolledUser()
      const foreign = yield* enrolledUser()
      const body = yield* signed({ key, portfolioId: user.portfolioId })
      for (const portfolioId of [unknown, foreign.portfolioId]) {
        assertError(yield* post({ key, portfolioId }, "resign"), PortfolioNotFound)
        assertError(yield* post({ key, portfolioId }, "resubmit-signature", body), PortfolioNotFound)
      }
    })
  )

  it.effect("a replay while the first is in progress is refused", () =>
    Effect.gen(function* () {
      const environment = yield* TestEnvironment
      const user = yield* enrolledUser()
      const body = yield* signed(user)
      const [reached, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      environment.beforeSignature = Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(released))
      const first = yield* Effect.forkChild(post(user, "resubmit-signature", body))
      yield* Deferred.await(reached)
      assertError(yield* post(user, "resubmit-signature", body), ReplayInProgress)
      environment.beforeSignature = Effect.void
      yield* Deferred.succeed(released, undefined)
      assert.strictEqual((yield* Fiber.join(first)).status, 200)
    })
  )

  it.effect("an owner that is a contract is sent to v2, and a chain that does not answer is reported", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const environment = yield* TestEnvironment
      const { key, ...actor } = yield* newTenant()
      const strategyId = yield* newStrategy({ key, ...actor })
      const ownerAccountId = newOwner()
      environment.contractOwners = new Set([ownerAccountId])
      const draft = { ownerAccountId, strategyId, chainIds: [8453], accountType: "ERC1271" }
      const { accountIndex, agentAccountId, flowId } = (yield* call("POST", "/v2/enroll/signature", {
        key,
        body: draft
      })).json.data
      const enrollment = { ...draft, accountIndex, agentAccountId, flowId, signature: ownerSignature }
      const { portfolioId } = (yield* call("POST", "/v2/enroll", { key, body: enrollment })).json.data
      const user = { key, portfolioId }
      assertError(yield* post(user, "resign"), ValidationFailed, "portfolioId: its owner is a contract")
      const stage1 = (yield* call("POST", `/v2/portfolios/${portfolioId}/resign/signature`, { key, body: {} })).json
        .data
      const message = `I let the agent of Ballast go on managing my portfolio ${portfolioId} (${stage1.flowId})\n\n${stage1.message.typedData.message.hash}`
      const body = {
        signature: ownerSignature,
        signatureAction: { reason: "portfolio-resign", type: "personal_sign", message }
      }
      environment.verifierDown = true
      assertError(yield* post(user, "resign"), VerifierUnavailable)
      assertError(yield* post(user, "resubmit-signature", body), VerifierUnavailable)
      environment.verifierDown = false
      assert.strictEqual((yield* post(user, "resubmit-signature", body)).status, 200)
    })
  )
})

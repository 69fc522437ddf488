import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import {
  AuthorizationExpired,
  ChainMismatch,
  DuplicateAsset,
  InsufficientBalance,
  PortfolioMismatch,
  PortfolioNotFound,
  RecipientInvalid,
  SignatureInvalid,
  SmartAccountMissing,
  ValidationFailed,
  VerifierUnavailable
} from "#domain/errors/Errors.ts"
import { newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError, isoTime } from "#test/api/support/assertions.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { ownerSignature, TestEnvironment } from "#test/api/support/TestEnvironment.ts"
import { newWallet, signTypedData } from "#test/api/support/wallets.ts"
import {
  enrolled,
  issue,
  post,
  recipientOn,
  request,
  rowsOf,
  setBalance,
  signedBody,
  signMessage
} from "#test/api/support/withdrawing.ts"
import { arbUsdc, baseUsdc, baseWeth } from "#test/support/assets.ts"

const asset = (assetId: string, amountRaw: unknown) => ({ assetId, amountRaw })

const nothing = { claims: 0, withdrawals: 0, operations: 0 }

layer(ApiLive, { excludeTestServices: true })("withdrawals", (it) => {
  it.effect("stage 1 issues typed data that the wallet signs as it is", () =>
    Effect.gen(function* () {
      const user = yield* enrolled()
      const before = Math.floor((yield* DateTime.now).epochMilliseconds / 1000)
      const answer = yield* post(user, "withdraw/signature", request)
      assertData(answer, 200, ["authorizationId", "expiresAt", "typedData"])
      const { authorizationId, expiresAt, typedData } = answer.json.data
      assert.match(authorizationId, /^0x[0-9a-f]{64}$/)
      assert.match(expiresAt, isoTime)
      const { message } = typedData
      assert.strictEqual(Date.parse(expiresAt), message.expiresAt * 1000)
      assert.isAtLeast(message.expiresAt, before + 600)
      assert.deepStrictEqual(typedData, {
        domain: {
          name: "Ballast Withdrawal Authorization",
          version: "1",
          chainId: 8453,
          verifyingContract: user.base.split(":")[2]
        },
        types: {
          Withdrawal: [
            { name: "portfolioId", type: "string" },
            { name: "recipientAccountId", type: "string" },
            { name: "assets", type: "WithdrawalAsset[]" },
            { name: "nonce", type: "bytes32" },
            { name: "expiresAt", type: "uint256" }
          ],
          WithdrawalAsset: [
            { name: "assetId", type: "string" },
            { name: "amountRaw", type: "string" }
          ]
        },
        primaryType: "Withdrawal",
        message: {
          portfolioId: user.portfolioId,
          recipientAccountId: request.recipientAccountId,
          assets: request.assets,
          nonce: authorizationId,
          expiresAt: message.expiresAt
        }
      })
      assert.deepStrictEqual(Object.keys(message), [
        "portfolioId",
        "recipientAccountId",
        "assets",
        "nonce",
        "expiresAt"
      ])
      assert.notStrictEqual((yield* issue(user)).authorizationId, authorizationId)
      assert.deepStrictEqual(yield* rowsOf(user.portfolioId), nothing)
    })
  )

  it.effect("stage 1 issues identifiers in their canonical spelling, whatever was sent", () =>
    Effect.gen(function* () {
      const user = yield* enrolled()
      const { typedData } = yield* issue(user, {
        recipientAccountId: request.recipientAccountId.toLowerCase(),
        assets: [asset(baseUsdc.assetId.toLowerCase(), "1")]
      })
      assert.strictEqual(typedData.message.recipientAccountId, request.recipientAccountId)
      assert.strictEqual(typedData.message.assets[0].assetId, baseUsdc.assetId)
    })
  )

  it.effect("stage 2 accepts an operation of kind withdraw, and answers a replay the same way", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const user = yield* enrolled()
      const body = yield* signedBody(user, {
        assets: [asset(baseUsdc.assetId, "1500500000"), asset(baseWeth.assetId, "1")]
      })
      const answer = yield* post(user, "withdraw", body)
      assertData(answer, 202, ["operationId", "submittedAt"])
      const { operationId, submittedAt } = answer.json.data
      const poll = yield* call("GET", `/v2/portfolios/${user.portfolioId}/operations/${operationId}`, { key: user.key })
      assert.strictEqual(poll.json.data.kind, "withdraw")
      assert.strictEqual(poll.json.data.state, "accepted")
      assert.strictEqual(poll.json.data.submittedAt, submittedAt)
      const upper = { ...body, signature: `0x${body.signature.slice(2).toUpperCase()}` }
      for (const same of [body, upper, { signature: body.signature, message: body.message }]) {
        assert.deepStrictEqual((yield* post(user, "withdraw", same)).json, answer.json)
      }
      // Long after it expired the answer is still the first one.
      ;(yield* MovableClock).advance(3_600_000)
      assert.deepStrictEqual((yield* post(user, "withdraw", body)).json, answer.json)
      assert.deepStrictEqual(yield* rowsOf(user.portfolioId), { claims: 1, withdrawals: 1, operations: 1 })
    })
  )

  it.effect("two withdrawals of one portfolio stand beside each other", () =>
    Effect.gen(function* () {
      const user = yield* enrolled()
      const first = yield* post(user, "withdraw", yield* signedBody(user))
      const second = yield* post(user, "withdraw", yield* signedBody(user))
      assert.strictEqual(first.status, 202)
      assert.strictEqual(second.status, 202)
      assert.notStrictEqual(first.json.data.operationId, second.json.data.operationId)
    })
  )

  it.effect("recipients: bound to a chain, somebody, and not the account that gives", () =>
    Effect.gen(function* () {
      const user = yield* enrolled()
      for (const recipientAccountId of [
        "eip155:0:0x8617E340B3D01FA5F11F306F4090FD50E238070D",
        `eip155:8453:0x${"0".repeat(40)}`,
        user.base,
        user.base.toLowerCase()
      ]) {
        const answer = yield* post(user, "withdraw/signature", { ...request, recipientAccountId })
        assertError(answer, RecipientInvalid, "recipientAccountId: ")
      }
      // Any other address will do, the owner's own and that of a stranger.
      yield* issue(user, { recipientAccountId: `eip155:8453:${user.wallet.address}` })
      yield* issue(user, { recipientAccountId: `eip155:8453:${newWallet().address}` })
    })
  )

  it.effect("one withdrawal names an asset once and is on one chain, where the portfolio has an account", () =>
    Effect.gen(function* () {
      const user = yield* enrolled()
      const usdc = asset(baseUsdc.assetId, "1")
      assertError(
        yield* post(user, "withdraw/signature", {
          ...request,
          assets: [usdc, asset(baseWeth.assetId, "1"), asset(baseUsdc.assetId.toLowerCase(), "2")]
        }),
        DuplicateAsset,
        "assets.2.assetId: the same as assets.0"
      )
      assertError(
        yield* post(user, "withdraw/signature", { ...request, assets: [usdc, asset(arbUsdc.assetId, "1")] }),
        ChainMismatch,
        "assets.1.assetId: is on chain 42161"
      )
      assertError(
        yield* post(user, "withdraw/signature", { ...request, recipientAccountId: recipientOn(1) }),
        ChainMismatch,
        "assets.0.assetId: is on chain 8453, the recipient on 1"
      )
      assertError(
        yield* post(user, "withdraw/signature", {
          recipientAccountId: recipientOn(1),
          assets: [asset("eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "1")]
        }),
        SmartAccountMissing,
        "recipientAccountId: "
      )
    })
  )

  it.effect("a balance that does not cover it names each asset that is short, at either stage", () =>
    Effect.gen(function* () {
      const user = yield* enrolled()
      const short = yield* post(user, "withdraw/signature", {
        ...request,
        assets: [asset(baseUsdc.assetId, "1500500001"), asset(baseWeth.assetId, "1")]
      })
      assertError(
        short,
        InsufficientBalance,
        /^assets\.0: eip155:8453\/erc20:0x8335\w+ have 1500500000, need 1500500001$/
      )
      assert.lengthOf(short.json.error.details, 1)

      const body = yield* signedBody(user)
      yield* setBalance(user.base, baseUsdc.assetId, 1n)
      assertError(yield* post(user, "withdraw", body), InsufficientBalance, "message.assets.0: ")
      assert.deepStrictEqual(yield* rowsOf(user.portfolioId), nothing)
      // The lock is released: with the money back the very same body is accepted.
      yield* setBalance(user.base, baseUsdc.assetId, 1_500_500_000n)
      assert.strictEqual((yield* post(user, "withdraw", body)).status, 202)
    })
  )

  it.effect("a chain that cannot be read is 503 at either stage, and the same body passes later", () =>
    Effect.gen(function* () {
      const environment = yield* TestEnvironment
      const user = yield* enrolled()
      const body = yield* signedBody(user)
      environment.chainsDown = true
      const answers = yield* Effect.all([post(user, "withdraw/signature", request), post(user, "withdraw", body)]).pipe(
        Effect.ensuring(Effect.sync(() => (environment.chainsDown = false)))
      )
      for (const answer of answers) {
        assertError(answer, VerifierUnavailable)
        assert.include(answer.json.error.message, "8453")
      }
      assert.deepStrictEqual(yield* rowsOf(user.portfolioId), nothing)
      assert.strictEqual((yield* post(user, "withdraw", body)).status, 202)
    })
  )

  it.effect("an owner that is a contract is asked, and one that cannot be asked is 503", () =>
    Effect.gen(function* () {
      const environment = yield* TestEnvironment
      const sql = yield* SqlClient.SqlClient
      const user = yield* enrolled()
      yield* sql`
        UPDATE grants SET authorization_document = jsonb_set(authorization_document, '{accountType}', '"ERC1271"')
        WHERE portfolio_id = ${user.portfolioId}`
      const { typedData } = yield* issue(user)
      const body = { message: typedData.message, signature: ownerSignature }
      environment.verifierDown = true
      const down = yield* post(user, "withdraw", body).pipe(
        Effect.ensuring(Effect.sync(() => (environment.verifierDown = false)))
      )
      assertError(down, VerifierUnavailable)
      assert.deepStrictEqual(yield* rowsOf(user.portfolioId), nothing)
      assertError(yield* post(user, "withdraw", { ...body, signature: "0x1b" }), SignatureInvalid)
      assert.strictEqual((yield* post(user, "withdraw", body)).status, 202)
    })
  )

  it.effect("a message of another portfolio is refused before anything else about it", () =>
    Effect.gen(function* () {
      const user = yield* enrolled()
      const other = yield* enrolled()
      const body = yield* signedBody(other)
      assertError(yield* post(user, "withdraw", body), PortfolioMismatch, "message.portfolioId: ")
      assert.strictEqual((yield* post(other, "withdraw", body)).status, 202)
    })
  )

  it.effect("is carried out to the last second of its life and not later", () =>
    Effect.gen(function* () {
      const clock = yield* MovableClock
      const user = yield* enrolled()
      const body = yield* signedBody(user)
      clock.advance(600_000 + 1)
      assertError(yield* post(user, "withdraw", body), AuthorizationExpired, "message.expiresAt: was ")
      assert.deepStrictEqual(yield* rowsOf(user.portfolioId), nothing)
      const later = yield* signedBody(user)
      clock.advance(590_000)
      assert.strictEqual((yield* post(user, "withdraw", later)).status, 202)
    })
  )

  it.effect("refuses a life longer than stage 1 gives", () =>
    Effect.gen(function* () {
      const user = yield* enrolled()
      const { typedData } = yield* issue(user)
      const body = yield* signMessage(user, { expiresAt: typedData.message.expiresAt + 3_600 })
      assertError(yield* post(user, "withdraw", body), ValidationFailed, "message.expiresAt: is later")
      assert.deepStrictEqual(yield* rowsOf(user.portfolioId), nothing)
    })
  )

  it.effect("refuses every signature but the owner's over exactly this message", () =>
    Effect.gen(function* () {
      const user = yield* enrolled()
      const issued = yield* issue(user)
      const { message } = issued.typedData
      const by = (wallet: typeof user.wallet, typedData: unknown) =>
        Effect.promise(() => signTypedData(wallet, typedData))
      const change = (domain: object) => ({ ...issued.typedData, domain: { ...issued.typedData.domain, ...domain } })
      const right = yield* by(user.wallet, issued.typedData)
      const signatures = [
        yield* by(newWallet(), issued.typedData),
        yield* by(user.wallet, change({ chainId: 42161 })),
        yield* by(user.wallet, change({ version: "2" })),
        yield* by(user.wallet, change({ name: "Another Withdrawal Authorization" })),
        yield* by(user.wallet, change({ verifyingContract: user.wallet.address })),
        yield* Effect.promise(() => user.wallet.signMessage({ message: "withdraw" })),
        ownerSignature,
        right.slice(0, -2),
        "0x00"
      ]
      for (const signature of signatures) {
        assertError(yield* post(user, "withdraw", { message, signature }), SignatureInvalid, "signature: ")
      }
      const changed = [
        { ...message, assets: [asset(baseUsdc.assetId, "1")] },
        { ...message, recipientAccountId: `eip155:8453:${newWallet().address}` },
        { ...message, nonce: `0x${"01".repeat(32)}` },
        { ...message, expiresAt: message.expiresAt - 1 },
        { ...message, liquidate: true }
      ]
      for (const other of changed) {
        assertError(yield* post(user, "withdraw", { message: other, signature: right }), SignatureInvalid)
      }
      assert.deepStrictEqual(yield* rowsOf(user.portfolioId), nothing)
      assert.strictEqual((yield* post(user, "withdraw", { message, signature: right })).status, 202)
    })
  )

  it.effect("another tenant's portfolio does not exist at any of the routes", () =>
    Effect.gen(function* () {
      const user = yield* enrolled()
      const body = yield* signedBody(user)
      const stranger = { ...user, ...(yield* newTenant()) }
      for (const [route, sent] of [
        ["withdraw/signature", request],
        ["withdraw", body],
        ["liquidate-all/signature", { recipientAccountId: recipientOn(8453) }],
        ["liquidate-all", body]
      ] as const) {
        assertError(yield* post(stranger, route, sent), PortfolioNotFound)
      }
    })
  )

  it.effect("an account from before withdrawals cannot be withdrawn from, and says so", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const user = yield* enrolled()
      yield* sql`
        UPDATE grants SET authorization_document = jsonb_set(authorization_document, '{withdrawalDomainName}', 'null')
        WHERE portfolio_id = ${user.portfolioId}`
      const answer = yield* post(user, "withdraw/signature", request)
      assertError(answer, SmartAccountMissing, /made before withdrawals/)
    })
  )
})

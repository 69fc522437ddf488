/** The native coin of a chain: what stage 1 issues of it, what stage 2 takes, and where it is refused. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Hex } from "viem"
import { verifyNativeWithdrawal } from "ballast/signing"
import { InsufficientBalance, SignatureInvalid, ValidationFailed } from "#domain/errors/Errors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError } from "#test/api/support/assertions.ts"
import { newWallet } from "#test/api/support/wallets.ts"
import {
  activateChain56,
  enrolled,
  post,
  recipientOn,
  rowsOf,
  setBalance,
  type Withdrawer
} from "#test/api/support/withdrawing.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"

const coin = "eip155:8453/slip44:60"
const asset = (assetId: string, amountRaw = "5") => ({ assetId, amountRaw })
const body = { recipientAccountId: recipientOn(8453), assets: [asset(coin)] }

const issue = Effect.fnUntraced(function* (user: Withdrawer) {
  yield* setBalance(user.base, coin, 7n)
  const answer = yield* post(user, "withdraw/signature", body)
  assertData(answer, 200, ["authorizationId", "expiresAt", "operation"])
  return answer.json.data
})

layer(ApiLive, { excludeTestServices: true })("withdrawals of the native coin", (it) => {
  it.effect("stage 1 issues the account's operation, which the client computes again, and stage 2 takes it", () =>
    Effect.gen(function* () {
      const user = yield* enrolled()
      const { authorizationId, operation } = yield* issue(user)
      assert.strictEqual(operation.accountId, user.base)
      assert.strictEqual(operation.message.nonce, authorizationId)
      assert.deepStrictEqual(operation.message.assets, body.assets)
      const expected = { portfolioId: user.portfolioId, ...body, account: user.base.split(":")[2]! }
      const [what] = verifyNativeWithdrawal(operation, expected)
      assert.strictEqual(what, `Takes out 5 of ${coin} from ${expected.account} on chain 8453.`)
      const raw: Hex = operation.signed.raw
      const signature = yield* Effect.promise(() => user.wallet.signMessage({ message: { raw } }))
      const sent = { message: operation.message, signature }
      const answer = yield* post(user, "withdraw", sent)
      assertData(answer, 202, ["operationId", "submittedAt"])
      assert.deepStrictEqual((yield* post(user, "withdraw", sent)).json, answer.json)
      assert.deepStrictEqual(yield* rowsOf(user.portfolioId), { claims: 1, withdrawals: 1, operations: 1 })
    })
  )

  it.effect("stage 2 refuses another wallet's signature, and a message that was not signed", () =>
    Effect.gen(function* () {
      const user = yield* enrolled()
      const { operation } = yield* issue(user)
      const raw: Hex = operation.signed.raw
      const own = yield* Effect.promise(() => user.wallet.signMessage({ message: { raw } }))
      const other = yield* Effect.promise(() => newWallet().signMessage({ message: { raw } }))
      const changed = { ...operation.message, assets: [asset(coin, "6")] }
      assertError(yield* post(user, "withdraw", { message: operation.message, signature: other }), SignatureInvalid)
      assertError(yield* post(user, "withdraw", { message: changed, signature: own }), SignatureInvalid)
      assert.deepStrictEqual(yield* rowsOf(user.portfolioId), { claims: 0, withdrawals: 0, operations: 0 })
    })
  )

  it.effect("more than there is, among tokens, to be sold, or of another number is refused", () =>
    Effect.gen(function* () {
      const user = yield* enrolled()
      yield* setBalance(user.base, coin, 7n)
      const stage1 = (changes: Record<string, unknown>) => post(user, "withdraw/signature", { ...body, ...changes })
      assertError(
        yield* stage1({ assets: [asset(coin, "8")] }),
        InsufficientBalance,
        `assets.0: ${coin} have 7, need 8`
      )
      assertError(
        yield* stage1({ assets: [asset(coin), asset(baseUsdc.assetId)] }),
        ValidationFailed,
        `assets.0.assetId: ${coin} is withdrawn alone`
      )
      assertError(yield* stage1({ liquidate: true }), ValidationFailed, `assets.0.assetId: ${coin} is never sold`)
      assertError(
        yield* stage1({ assets: [asset("eip155:8453/slip44:714")] }),
        ValidationFailed,
        `assets.0.assetId: eip155:8453/slip44:714 is not the native coin of its chain, which is ${coin}`
      )
      yield* activateChain56(user)
      const on56 = { recipientAccountId: recipientOn(56), assets: [asset("eip155:56/slip44:60")] }
      assertError(yield* stage1(on56), ValidationFailed, /which is eip155:56\/slip44:714$/u)
    })
  )

  it.effect("no allocation takes it, and the refusal names what to do", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const user = yield* enrolled()
      const allocation = {
        assets: [
          { assetId: coin, weight: "50" },
          { assetId: baseWeth.assetId, weight: "50" }
        ]
      }
      const answer = yield* call("POST", "/v2/strategies", {
        key: user.key,
        body: { name: "Ether", allocation, schedule: { type: "interval", frequency: "daily" } }
      })
      assertError(
        answer,
        ValidationFailed,
        /^allocation\.assets\.0\.assetId: .*; no native coin \(slip44\) is traded$/u
      )
    })
  )
})

import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Decimal from "#domain/values/Decimal.ts"
import {
  InsufficientBalance,
  NothingToLiquidate,
  RecipientInvalid,
  SettlementUnsupported,
  SignatureInvalid,
  SmartAccountMissing,
  ValidationFailed,
  VerifierUnavailable
} from "#domain/errors/Errors.ts"
import { ApiLive } from "#test/api/support/Api.ts"
import { assertData, assertError } from "#test/api/support/assertions.ts"
import { TestEnvironment } from "#test/api/support/TestEnvironment.ts"
import { signTypedData } from "#test/api/support/wallets.ts"
import {
  activateChain56,
  enrolled,
  issue,
  post,
  recipientOn,
  request,
  setBalance,
  signedBody
} from "#test/api/support/withdrawing.ts"
import { arbUsdc, baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"

const setPrices = Effect.gen(function* () {
  const environment = yield* TestEnvironment
  environment.prices = new Map([
    [baseUsdc.assetId, Decimal.one],
    [baseWeth.assetId, 2_500n * Decimal.one],
    [arbUsdc.assetId, Decimal.one]
  ])
})

layer(ApiLive, { excludeTestServices: true })("liquidations", (it) => {
  it.effect("stage 1 with liquidate issues version 2, whose last member is liquidate", () =>
    Effect.gen(function* () {
      const user = yield* enrolled()
      for (const settlement of [{}, { settlementAssetId: baseUsdc.assetId }]) {
        const { typedData } = yield* issue(user, { liquidate: true, ...settlement })
        assert.strictEqual(typedData.domain.version, "2")
        assert.deepStrictEqual(typedData.types.Withdrawal.at(-1), { name: "liquidate", type: "bool" })
        assert.lengthOf(typedData.types.Withdrawal, 6)
        assert.deepStrictEqual(Object.entries(typedData.message).at(-1), ["liquidate", true])
        assert.notProperty(typedData.message, "settlementAssetId")
      }
      const plain = yield* issue(user, { liquidate: false })
      assert.strictEqual(plain.typedData.domain.version, "1")
      assert.notProperty(plain.typedData.message, "liquidate")
    })
  )

  it.effect("both routes of stage 2 take a liquidating message, liquidate-all no other", () =>
    Effect.gen(function* () {
      const user = yield* enrolled()
      const first = yield* signedBody(user, { liquidate: true })
      assertData(yield* post(user, "withdraw", first), 202, ["operationId", "submittedAt"])
      assertData(yield* post(user, "liquidate-all", yield* signedBody(user, { liquidate: true })), 202, [
        "operationId",
        "submittedAt"
      ])
      const plain = yield* signedBody(user)
      assertError(yield* post(user, "liquidate-all", plain), ValidationFailed, "message.liquidate: must be true")
      const { liquidate: _, ...message } = first.message
      assertError(
        yield* post(user, "withdraw", { ...first, message: { ...message, nonce: `0x${"0a".repeat(32)}` } }),
        SignatureInvalid
      )
    })
  )

  it.effect("a chain without a settlement asset cannot be liquidated on", () =>
    Effect.gen(function* () {
      const user = yield* enrolled()
      yield* activateChain56(user)
      const asset = { assetId: "eip155:56/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", amountRaw: "1" }
      assertError(
        yield* post(user, "withdraw/signature", {
          recipientAccountId: recipientOn(56),
          assets: [asset],
          liquidate: true
        }),
        SettlementUnsupported,
        "recipientAccountId: "
      )
      assertError(
        yield* post(user, "liquidate-all/signature", { recipientAccountId: recipientOn(56) }),
        SettlementUnsupported
      )
      yield* setBalance(user.base.replace("8453", "56"), asset.assetId, 1n)
      yield* issue(user, { recipientAccountId: recipientOn(56), assets: [asset] })
    })
  )

  it.effect("liquidate-all picks every holding worth more than the threshold, the most valuable first", () =>
    Effect.gen(function* () {
      yield* setPrices
      const user = yield* enrolled()
      // Without a price, and on another chain: neither is picked.
      yield* setBalance(user.base, baseBtc.assetId, 1_000n)
      const { typedData } = yield* issue(user, {}, "liquidate-all")
      assert.deepStrictEqual(typedData.message.assets, [
        { assetId: baseWeth.assetId, amountRaw: "1000000000000000000" },
        { assetId: baseUsdc.assetId, amountRaw: "1500500000" }
      ])
      assert.isTrue(typedData.message.liquidate)
      const signature = yield* Effect.promise(() => signTypedData(user.wallet, typedData))
      const answer = yield* post(user, "liquidate-all", { message: typedData.message, signature })
      assertData(answer, 202, ["operationId", "submittedAt"])
      const again = yield* post(user, "liquidate-all", { message: typedData.message, signature })
      assert.deepStrictEqual(again.json, answer.json)
    })
  )

  it.effect("the threshold is the strategy's, then the tenant's, then the service's", () =>
    Effect.gen(function* () {
      yield* setPrices
      const sql = yield* SqlClient.SqlClient
      const user = yield* enrolled()
      // The strategy of these tests says 5 dollars.
      yield* setBalance(user.base, baseUsdc.assetId, 5_000_000n)
      yield* setBalance(user.base, baseWeth.assetId, 0n)
      const all = { recipientAccountId: recipientOn(8453) }
      assertError(yield* post(user, "liquidate-all/signature", all), NothingToLiquidate)
      yield* sql`UPDATE strategies SET threshold_usd = NULL WHERE strategy_id = ${user.strategyId}`
      yield* issue(user, {}, "liquidate-all")
      yield* sql`UPDATE tenants SET threshold_usd = 5 WHERE tenant_id = ${user.tenantId}`
      assertError(yield* post(user, "liquidate-all/signature", all), NothingToLiquidate)
      yield* setBalance(user.base, baseUsdc.assetId, 5_000_001n)
      yield* issue(user, {}, "liquidate-all")
    })
  )

  it.effect("an empty account has nothing to liquidate", () =>
    Effect.gen(function* () {
      yield* setPrices
      const user = yield* enrolled()
      yield* setBalance(user.arbitrum, arbUsdc.assetId, 0n)
      assertError(
        yield* post(user, "liquidate-all/signature", { recipientAccountId: recipientOn(42161) }),
        NothingToLiquidate
      )
    })
  )

  it.effect("liquidate-all takes a recipient and nothing else, under the same rules", () =>
    Effect.gen(function* () {
      yield* setPrices
      const user = yield* enrolled()
      const route = "liquidate-all/signature"
      assertError(yield* post(user, route, request), ValidationFailed, "assets: ")
      assertError(yield* post(user, route, {}), ValidationFailed, "recipientAccountId: ")
      assertError(yield* post(user, route, { recipientAccountId: user.base }), RecipientInvalid)
      assertError(yield* post(user, route, { recipientAccountId: recipientOn(0) }), RecipientInvalid)
      assertError(yield* post(user, route, { recipientAccountId: recipientOn(1) }), SmartAccountMissing)
      const environment = yield* TestEnvironment
      environment.chainsDown = true
      const down = yield* post(user, route, { recipientAccountId: recipientOn(8453) }).pipe(
        Effect.ensuring(Effect.sync(() => (environment.chainsDown = false)))
      )
      assertError(down, VerifierUnavailable)
    })
  )

  it.effect("stage 2 of liquidate-all reads the balances again", () =>
    Effect.gen(function* () {
      yield* setPrices
      const user = yield* enrolled()
      const body = yield* signedBody(user, {}, "liquidate-all")
      yield* setBalance(user.base, baseWeth.assetId, 1n)
      assertError(yield* post(user, "liquidate-all", body), InsufficientBalance, "message.assets.0: ")
    })
  )
})

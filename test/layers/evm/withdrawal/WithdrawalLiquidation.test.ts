/** Liquidations on real chains: sold, settled and delivered in one user operation of the agent, or nothing moves. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { getAddress } from "viem"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { Liquidator } from "#domain/withdrawal/Liquidator.ts"
import { WithdrawalTransactions } from "#domain/withdrawal/WithdrawalTransactions.ts"
import type { StoredWithdrawal } from "#domain/withdrawal/WithdrawalStore.ts"
import { advance } from "#sandbox/chain/Market.ts"
import { batchOf, enroll, EvmWorld, execute, fund, quotedSwap, stranger, token } from "#test/layers/evm/EvmWorld.ts"
import { balance, dollars, tradingAccount } from "#test/layers/evm/tradingAccount.ts"
import {
  submit,
  expire,
  GuardedWithdrawalWorldLive,
  signedWithdrawal,
  WithdrawalWorldLive
} from "#test/layers/evm/withdrawal/WithdrawalWorld.ts"
import { asTransaction } from "#domain/relay/Transaction.ts"

const fresh = (n: number) => getAddress(`0x${n.toString(16).padStart(40, "d")}`) as string as EvmAddress

const prepare = (withdrawal: StoredWithdrawal) =>
  Effect.flatMap(Liquidator, (liquidator) => liquidator.prepare(withdrawal))

const liquidate = (withdrawal: StoredWithdrawal) =>
  Effect.flatMap(prepare(withdrawal), (prepared) => submit(withdrawal, asTransaction(prepared)))

const reasonOf = (withdrawal: StoredWithdrawal) =>
  Effect.map(Effect.flip(prepare(withdrawal)), (error) => error.message)

const ether = 10n ** 18n

describe.each([
  { what: "under the old permission", world: WithdrawalWorldLive },
  { what: "under the guard", world: GuardedWithdrawalWorldLive }
])("Liquidations $what", ({ world }) => {
  layer(world, { excludeTestServices: true })((it) => {
    it.effect("sells two assets, delivers the proceeds and the signed dollars, keeps the rest", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const execution = yield* WithdrawalTransactions
        const enrollment = yield* tradingAccount(301n)
        yield* fund(base, enrollment.account, { symbol: "WETH", raw: ether })
        yield* fund(base, enrollment.account, { symbol: "AERO", raw: 100n * ether })
        const before = yield* balance(base, "USDC", enrollment.account)
        const to = fresh(1)
        const withdrawal = yield* signedWithdrawal(enrollment, base, {
          assets: [
            ["WETH", ether],
            ["AERO", 100n * ether],
            ["USDC", dollars(50n)]
          ],
          liquidate: true,
          to
        })
        const receipt = yield* liquidate(withdrawal)
        assert.isTrue(receipt.success)
        const arrived = yield* balance(base, "USDC", to)
        const price = (symbol: string) =>
          base.prices.price(base.tokens.find((one) => one.symbol === symbol)!.assetId) / 10n ** 12n
        const worth = price("WETH") + 100n * price("AERO") + dollars(50n)
        assert.isTrue(arrived < worth && arrived > (worth * 97n) / 100n, `${arrived} of ${worth}`)
        assert.strictEqual(yield* balance(base, "USDC", enrollment.account), before - dollars(50n))
        assert.strictEqual(yield* balance(base, "AERO", enrollment.account), 0n)
        assert.deepStrictEqual(
          (yield* execution.delivered(withdrawal, receipt)).map(({ assetId, raw }) => [assetId, raw]),
          [[`eip155:8453/erc20:${token(base, "USDC")}`, arrived]]
        )
        assert.isBelow(Number(receipt.gasUsed), 1_500_000)
        assert.strictEqual((yield* execution.standing(withdrawal))._tag, "Landed")
        // Once: with the assets back the same authorization does nothing more.
        yield* fund(base, enrollment.account, { symbol: "WETH", raw: ether })
        yield* fund(base, enrollment.account, { symbol: "AERO", raw: 100n * ether })
        assert.include(yield* reasonOf(withdrawal), "NonceUsed")
      })
    )

    it.effect("deploys the account and enables the agent on the way, on either chain", () =>
      Effect.gen(function* () {
        const { arbitrum, base } = yield* EvmWorld
        const enrollment = yield* enroll(302n, [
          [base, "USDC", "WETH"],
          [arbitrum, "USDC", "WETH"]
        ])
        for (const chain of [base, arbitrum]) {
          yield* fund(chain, enrollment.account, { symbol: "WETH", raw: ether })
          const to = fresh(2)
          const receipt = yield* liquidate(
            yield* signedWithdrawal(enrollment, chain, { assets: [["WETH", ether]], liquidate: true, to })
          )
          assert.isTrue(receipt.success)
          assert.isTrue((yield* balance(chain, "USDC", to)) > dollars(100n))
          assert.strictEqual(yield* balance(chain, "USDC", enrollment.account), 0n)
        }
      })
    )

    it.effect("of dollars alone delivers them as they are", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* tradingAccount(303n)
        const to = fresh(3)
        const receipt = yield* liquidate(
          yield* signedWithdrawal(enrollment, base, { assets: [["USDC", dollars(20n)]], liquidate: true, to })
        )
        assert.isTrue(receipt.success)
        assert.strictEqual(yield* balance(base, "USDC", to), dollars(20n))
      })
    )

    it.effect("takes all tokens of a chain within its gas, the one without a feed among them", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const symbols = base.tokens.map(({ symbol }) => symbol)
        const enrollment = yield* enroll(304n, [[base, ...symbols]])
        const assets = yield* Effect.forEach(base.tokens, ({ decimals, symbol }) =>
          Effect.gen(function* () {
            const raw = symbol === "cbBTC" ? 10n ** BigInt(decimals - 3) : 10n ** BigInt(decimals - 1)
            yield* fund(base, enrollment.account, { symbol, raw })
            return [symbol, raw] as const
          })
        )
        const to = fresh(4)
        const receipt = yield* liquidate(yield* signedWithdrawal(enrollment, base, { assets, liquidate: true, to }))
        assert.isTrue(receipt.success)
        assert.isAtLeast(assets.length, 6)
        for (const symbol of symbols) assert.strictEqual(yield* balance(base, symbol, enrollment.account), 0n, symbol)
        assert.isTrue((yield* balance(base, "USDC", to)) > 0n)
      })
    )

    it.effect("an asset that would move the market too far refuses the whole, by its name", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* tradingAccount(305n)
        yield* fund(base, enrollment.account, { symbol: "AERO", raw: 50_000_000n * ether })
        yield* fund(base, enrollment.account, { symbol: "WETH", raw: ether })
        const reason = yield* reasonOf(
          yield* signedWithdrawal(enrollment, base, {
            assets: [
              ["WETH", ether],
              ["AERO", 50_000_000n * ether]
            ],
            liquidate: true
          })
        )
        assert.include(reason, token(base, "AERO"))
        assert.match(reason, /basis points/)
        assert.notInclude(reason, token(base, "WETH"))
      })
    )

    it.effect("without the owner's signature, or after the expiry, nothing is prepared", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* tradingAccount(306n)
        yield* fund(base, enrollment.account, { symbol: "WETH", raw: ether })
        const options = { assets: [["WETH", ether]] as const, liquidate: true }
        const foreign = yield* signedWithdrawal(enrollment, base, {
          ...options,
          sign: (typedData) => stranger.signTypedData(typedData)
        })
        assert.include(yield* reasonOf(foreign), "NotSignedByOwner")
        const short = yield* signedWithdrawal(enrollment, base, { assets: [["WETH", 5_000n * ether]], liquidate: true })
        assert.match(yield* reasonOf(short), /have \d+, need 5000/)
        const late = yield* signedWithdrawal(enrollment, base, options)
        const prepared = asTransaction(yield* prepare(late))
        yield* expire(base, late)
        assert.include(yield* reasonOf(late), "Expired(")
        const held = yield* balance(base, "WETH", enrollment.account)
        assert.isFalse((yield* submit(late, prepared)).success)
        assert.strictEqual(yield* balance(base, "WETH", enrollment.account), held)
      })
    )

    it.effect(
      "a rebalance that lands in between makes the prepared batch fail whole, not settle on stale balances",
      () =>
        Effect.gen(function* () {
          const { arbitrum } = yield* EvmWorld
          const enrollment = yield* enroll(307n, [[arbitrum, "USDC", "WETH"]])
          yield* fund(arbitrum, enrollment.account, { symbol: "WETH", raw: 2n * ether })
          yield* fund(arbitrum, enrollment.account, { symbol: "USDC", raw: dollars(1_000n) })
          yield* execute(
            batchOf(enrollment, arbitrum, [
              yield* quotedSwap(arbitrum, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })
            ])
          )
          const to = fresh(7)
          const withdrawal = yield* signedWithdrawal(enrollment, arbitrum, {
            assets: [["WETH", ether]],
            liquidate: true,
            to
          })
          const prepared = asTransaction(yield* prepare(withdrawal))
          yield* execute(
            batchOf(enrollment, arbitrum, [
              yield* quotedSwap(arbitrum, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(100n) })
            ])
          )
          yield* advance(arbitrum, 1_000)
          const lost = yield* submit(withdrawal, { ...prepared, chainNonce: prepared.chainNonce + 1 })
          assert.isFalse(lost.success)
          assert.strictEqual(yield* balance(arbitrum, "USDC", to), 0n)
          const held = yield* balance(arbitrum, "USDC", enrollment.account)
          assert.isTrue((yield* liquidate(withdrawal)).success)
          assert.strictEqual(yield* balance(arbitrum, "USDC", enrollment.account), held)
        })
    )
  })
})

/** What withdrawals may cost the relayer, and how an owner carries one out without the service. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { type Address, getAddress, type Hex } from "viem"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { WithdrawalTransactions } from "#domain/withdrawal/WithdrawalTransactions.ts"
import { WithdrawalVerifier } from "#domain/withdrawal/WithdrawalVerifier.ts"
import { enroll, EvmWorld, fund, stranger, token } from "#test/layers/evm/EvmWorld.ts"
import { balance, dollars, tradingAccount } from "#test/layers/evm/tradingAccount.ts"
import { refusedBecause, signedWithdrawal, WithdrawalWorldLive } from "#test/layers/evm/withdrawal/WithdrawalWorld.ts"
import { transact } from "#test/solidity/routedSwaps.ts"
import { asTransaction } from "#domain/relay/Transaction.ts"

/** A recipient that nothing else of these tests sends to. */
const fresh = (n: number) => getAddress(`0x${n.toString(16).padStart(40, "e")}`) as string as EvmAddress

describe("Withdrawals and gas: a withdrawal", () => {
  layer(WithdrawalWorldLive, { excludeTestServices: true })((it) => {
    it.effect(
      "is carried out without the service by the transactions that it answers, before the account is deployed",
      () =>
        Effect.gen(function* () {
          const { base } = yield* EvmWorld
          const { selfSubmission } = yield* WithdrawalVerifier
          const enrollment = yield* enroll(213n, [[base, "USDC", "WETH"]])
          yield* fund(base, enrollment.account, { symbol: "USDC", raw: dollars(5n) })
          const to = fresh(13)
          const withdrawal = yield* signedWithdrawal(enrollment, base, { assets: [["USDC", dollars(5n)]], to })
          const { deploy, withdraw } = Option.getOrThrow(selfSubmission(withdrawal))
          for (const call of [deploy, withdraw]) {
            const [target, data] = [call.to as string as Address, call.data as Hex]
            const receipt = yield* Effect.promise(async () => {
              const hash = await base.client.sendTransaction({ account: stranger, to: target, data, gas: 3_000_000n })
              return base.client.waitForTransactionReceipt({ hash })
            })
            assert.strictEqual(receipt.status, "success")
          }
          assert.strictEqual(yield* balance(base, "USDC", to), dollars(5n))
        })
    )

    it.effect("of one asset costs at most 106,000 gas and 560 bytes of calldata", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const execution = yield* WithdrawalTransactions
        const enrollment = yield* tradingAccount(215n)
        const to = fresh(15)
        const submitted = Effect.gen(function* () {
          const withdrawal = yield* signedWithdrawal(enrollment, base, { assets: [["USDC", 7n]], to })
          const { callData, to: target } = asTransaction(yield* execution.prepare(withdrawal))
          const receipt = yield* transact(base, stranger, { to: target as string as Address, data: callData as Hex })
          assert.strictEqual(receipt.status, "success")
          return { gas: Number(receipt.gasUsed), bytes: (callData.length - 2) / 2 }
        })
        // The recipient's first balance costs a new slot.
        yield* submitted
        const { bytes, gas } = yield* submitted
        assert.isAtMost(gas, 106_000)
        assert.isAtMost(bytes, 560)
      })
    )

    it.effect("is not paid for when a token burns more than 500,000 gas beside the 2,500,000 of a withdrawal", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* tradingAccount(214n)
        const withdrawal = yield* signedWithdrawal(enrollment, base, { assets: [["USDC", 7n]], to: fresh(14) })
        const address = getAddress(token(base, "USDC"))
        const code = (yield* Effect.promise(() => base.client.getCode({ address }))) ?? "0x"
        // Answers any balance, and burns 11,500,000 gas in whatever else it is asked.
        const burner =
          "0x5f3560e01c6370a08231146024575a5b5a81036300af79e011600f5760015f5260205ff35b63ffffffff5f5260205ff3"
        const setCode = (bytecode: string) =>
          Effect.promise(() => base.client.request({ method: "anvil_setCode", params: [address, bytecode] }))
        const reason = yield* Effect.acquireUseRelease(
          setCode(burner),
          () => refusedBecause(withdrawal),
          () => setCode(code)
        )
        assert.match(reason, /^it needs 1[12]\d{6} gas, and the service pays for 3000000 at most/)
      })
    )
  })
})

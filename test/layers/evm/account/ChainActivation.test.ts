/** Grants beside one another: a chain that was added later, and accounts from before there were withdrawals. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Address, type Hex, zeroAddress } from "viem"
import { type EvmAddress, evmWallet } from "#domain/values/Caip.ts"
import { grantOn } from "#domain/account/Grant.ts"
import { SmartAccounts } from "#domain/account/SmartAccounts.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import { withdrawalExecutor, withdrawalExecutorAbi } from "#layers/evm/contracts.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import {
  type Enrollment,
  EvmWorld,
  EvmWorldLive,
  asset,
  batchOf,
  chainIdOf,
  enroll,
  execute,
  fund,
  owner,
  quotedSwap
} from "#test/layers/evm/EvmWorld.ts"
import { balance, dollars } from "#test/layers/evm/tradingAccount.ts"
import { addressOf } from "#layers/evm/address.ts"

const executorOwnerOf = (chain: Chain, account: EvmAddress) =>
  Effect.promise(() =>
    chain.client.readContract({
      address: withdrawalExecutor,
      abi: withdrawalExecutorAbi,
      functionName: "ownerOf",
      args: [account as string as Address]
    })
  )

describe("Grants", () => {
  layer(EvmWorldLive, { excludeTestServices: true })((it) => {
    it.effect("a later one has the same address on its chain, and trades there beside the first", () =>
      Effect.gen(function* () {
        const { arbitrum, base } = yield* EvmWorld
        const execution = yield* SwapBatches
        const first = yield* enroll(120n, [[base, "USDC", "WETH"]])
        yield* fund(base, first.account, { symbol: "USDC", raw: dollars(100n) })
        const onBase = yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })
        assert.isTrue((yield* execute(batchOf(first, base, [onBase]))).receipt.success)

        const second = yield* enroll(120n, [[arbitrum, "USDC", "WETH"]])
        assert.strictEqual(second.account, first.account)
        yield* fund(arbitrum, second.account, { symbol: "USDC", raw: dollars(100n) })
        const onArbitrum = yield* quotedSwap(arbitrum, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })
        const refused = yield* Effect.flip(execution.prepare(batchOf(first, arbitrum, [onArbitrum])))
        assert.include(refused.message, "did not authorize this chain")

        const grants = [first, second]
        const byGrant = (chain: Chain) => ({ ...first, ...grantOn(grants, chainIdOf(chain))! }) satisfies Enrollment
        assert.isTrue((yield* execute(batchOf(byGrant(arbitrum), arbitrum, [onArbitrum]))).receipt.success)
        const again = yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })
        assert.isTrue((yield* execute(batchOf(byGrant(base), base, [again]))).receipt.success)
        assert.strictEqual(yield* balance(arbitrum, "USDC", first.account), dollars(90n))
        assert.strictEqual(yield* balance(base, "USDC", first.account), dollars(80n))
        for (const chain of [base, arbitrum]) {
          assert.strictEqual(yield* executorOwnerOf(chain, first.account), owner.address)
        }
      })
    )

    it.effect("an account from before withdrawals trades as it was authorized, without their executor", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const accounts = yield* SmartAccounts
        const authorization = yield* accounts.authorize({
          accountType: "ECDSA",
          ownerAccountId: evmWallet(owner.address as string as EvmAddress),
          accountIndex: 120n,
          withdrawalDomainName: null,
          chains: [{ chainId: chainIdOf(base), assets: [asset(base, "WETH")] }]
        })
        const ownerSignature = yield* Effect.promise(() =>
          owner.signMessage({ message: { raw: authorization.root as Hex } })
        )
        const account = addressOf(authorization.chains[0].accountId)
        assert.notStrictEqual(account, (yield* enroll(120n, [[base, "WETH"]])).account)
        yield* fund(base, account, { symbol: "USDC", raw: dollars(10n) })
        const swap = yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })
        assert.isTrue(
          (yield* execute(batchOf({ authorization, ownerSignature, account }, base, [swap]))).receipt.success
        )
        assert.strictEqual(yield* executorOwnerOf(base, account), zeroAddress)
      })
    )
  })
})

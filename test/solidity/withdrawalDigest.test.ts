/**
 * The contract hashes what the owner was shown, whatever that was: the same digest as a wallet's, over random messages.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { getAddress, hashTypedData, type Hex } from "viem"
import { withdrawalExecutor, withdrawalExecutorAbi } from "#layers/evm/contracts.ts"
import { enroll, EvmWorld, EvmWorldLive, stranger } from "#test/layers/evm/EvmWorld.ts"
import { type Authorization, domainOf, typedData } from "#test/solidity/withdrawals.ts"
import { deployAccount } from "#test/layers/evm/tradingAccount.ts"

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((array): Hex => `0x${Buffer.from(array).toString("hex")}`)

const address = fc.oneof(hex(20), fc.constant<Hex>(`0x${"00".repeat(19)}01`)).map((text) => getAddress(text))
const uint256 = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.bigInt({ min: 0n, max: 10n ** 20n }))

const authorizations: fc.Arbitrary<Authorization> = fc.record({
  portfolioId: fc.oneof(fc.string({ unit: "grapheme", maxLength: 80 }), fc.constant("pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8")),
  recipient: address,
  assets: fc.array(fc.record({ token: address, amount: uint256 }), { maxLength: 6 }),
  nonce: hex(32),
  expiresAt: uint256
})

describe("digestOf", () => {
  layer(EvmWorldLive, { excludeTestServices: true })((it) => {
    it.effect("is the EIP-712 digest of shapes 2.22, in both versions and on both chains", () =>
      Effect.gen(function* () {
        const { arbitrum, base } = yield* EvmWorld
        const { account, authorization } = yield* enroll(60n, [
          [base, "USDC"],
          [arbitrum, "USDC"]
        ])
        yield* deployAccount(base, authorization)
        yield* deployAccount(arbitrum, authorization)
        const verifyingContract = getAddress(account)
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(authorizations, fc.boolean(), fc.boolean(), async (message, liquidate, onBase) => {
              const chain = onBase ? base : arbitrum
              const digest = await chain.client.readContract({
                address: withdrawalExecutor,
                abi: withdrawalExecutorAbi,
                functionName: "digestOf",
                args: [verifyingContract, message, liquidate]
              })
              const domain = domainOf(chain, verifyingContract, liquidate ? "2" : "1")
              assert.strictEqual(digest, hashTypedData(typedData(domain, message)))
            }),
            { numRuns: 300 }
          )
        )
      })
    )

    it.effect("of an account without the module names no domain that anybody is shown", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const read = (functionName: "ownerOf" | "nameHashOf" | "isInitialized") =>
          Effect.promise(() =>
            base.client.readContract({
              address: withdrawalExecutor,
              abi: withdrawalExecutorAbi,
              functionName,
              args: [stranger.address]
            })
          )
        assert.strictEqual(yield* read("ownerOf"), `0x${"00".repeat(20)}`)
        assert.strictEqual(yield* read("nameHashOf"), `0x${"00".repeat(32)}`)
        assert.isFalse(yield* read("isInitialized"))
      })
    )
  })
})

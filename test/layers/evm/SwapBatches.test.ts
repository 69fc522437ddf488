import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Hex, parseTransaction, recoverTransactionAddress } from "viem"
import { ChainId } from "#domain/values/Caip.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import type { Swap } from "#domain/trading/Swap.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { asTransaction, PreparedTransaction, SignedTransaction } from "#domain/relay/Transaction.ts"
import { rootSignature } from "#layers/evm/account/digestTree.ts"
import { nonceKey, operationHash, operationSignature, unsignedOperation } from "#layers/evm/execution/agentOperation.ts"
import { executeBatch, swapCalls } from "#layers/evm/execution/swapCalls.ts"
import { type Chain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { setPrice } from "#sandbox/chain/Market.ts"
import { countingProxy } from "#test/layers/evm/countingProxy.ts"
import { agentAccount, revokeAll, sdkAccount } from "#test/layers/evm/account/sdkAccount.ts"
import { evmExecution, evmPolicy } from "#layers/evm/address.ts"
import {
  agent,
  batchOf,
  configFor,
  type Enrollment,
  enroll,
  EvmWorld,
  EvmWorldLive,
  execute,
  fund,
  connectorTokensOf,
  owner,
  quotedSwap,
  relayer,
  stranger,
  token,
  adapterFor
} from "#test/layers/evm/EvmWorld.ts"
import {
  balances,
  changes,
  deltasOf,
  deployAccount,
  dollars,
  roundTrip,
  tradingAccount
} from "#test/layers/evm/tradingAccount.ts"

/** The way back. */
const reversed = (swap: Swap) => {
  const { path } = evmExecution(swap)
  return { _tag: "Evm", path: path.toReversed() } as const
}

describe("SwapBatches", () => {
  layer(EvmWorldLive, { excludeTestServices: true })((it) => {
    it.effect("one owner signature takes an account through first and later operations on two chains", () =>
      Effect.gen(function* () {
        const { arbitrum, base } = yield* EvmWorld
        const enrollment = yield* enroll(1n, [
          [base, "USDC", "WETH", "cbBTC"],
          [arbitrum, "USDC", "WETH", "ARB"]
        ])
        for (const [chain, third] of [
          [base, "cbBTC"],
          [arbitrum, "ARB"]
        ] as const) {
          yield* fund(chain, enrollment.account, { symbol: "USDC", raw: dollars(5_000n) })
          const start = yield* balances(chain, enrollment.account)
          const first = yield* execute(
            batchOf(enrollment, chain, [
              yield* quotedSwap(chain, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(1_000n) }),
              yield* quotedSwap(chain, { sell: "USDC", buy: third, sellAmountRaw: dollars(1_000n) })
            ])
          )
          assert.isTrue(first.receipt.success)
          const middle = yield* balances(chain, enrollment.account)
          assert.deepStrictEqual(deltasOf(first.receipt), changes(start, middle))
          const second = yield* execute(
            batchOf(enrollment, chain, [
              yield* quotedSwap(chain, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(500n) })
            ])
          )
          assert.isTrue(second.receipt.success)
          assert.deepStrictEqual(deltasOf(second.receipt), changes(middle, yield* balances(chain, enrollment.account)))
          assert.isBelow(Number(second.receipt.gasUsed), 500_000)
          assert.isBelow(second.prepared.callData.length, first.prepared.callData.length)
        }
      })
    )

    it.effect("pays what the venue quoted, over one hop and over a hub", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* tradingAccount(2n)
        const direct = yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(1_000n) })
        const one = yield* execute(batchOf(enrollment, base, [direct]))
        assert.strictEqual(deltasOf(one.receipt).get(direct.buy), direct.minBuyAmountRaw)
        yield* setPrice(base, tokenBySymbol(base, "AERO"), { priceUsd: 1_100_000_000_000_000_000n })
        const quoted = yield* quotedSwap(base, { sell: "WETH", buy: "AERO", sellAmountRaw: 10n ** 17n })
        const hub = token(base, "USDC")
        const twoHops = {
          ...quoted,
          execution: { _tag: "Evm", path: [token(base, "WETH"), hub, token(base, "AERO")] } as const,
          minBuyAmountRaw: (quoted.minBuyAmountRaw * 98n) / 100n
        }
        const two = yield* execute(batchOf(enrollment, base, [twoHops]))
        assert.isTrue(two.receipt.success)
        assert.deepStrictEqual([...deltasOf(two.receipt).keys()].sort(), [twoHops.sell, twoHops.buy].sort())
      })
    )

    it.effect("builds what ZeroDev's client builds, byte for byte", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* enroll(3n, [[base, "USDC", "WETH"]])
        const chain = enrollment.authorization.chains[0]
        const ownerSignature = enrollment.ownerSignature as Hex
        const enableSignature = rootSignature(ownerSignature, [chain.digest as Hex], chain.digest as Hex)
        const account = yield* Effect.promise(() => agentAccount(base, enrollment, { enableSignature }))
        const swap = yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(1n) })
        const calls = swapCalls(swap, { account: enrollment.account, router: evmPolicy(chain).router, deadline: 1n })
        const callData = yield* Effect.promise(() =>
          account.encodeCalls(calls.map(({ data, target }) => ({ to: target, data })))
        )
        assert.strictEqual(executeBatch(calls), callData)
        const nonce = yield* Effect.promise(() => account.getNonce())
        const gas = { callGasLimit: 1n, verificationGasLimit: 2n, preVerificationGas: 3n }
        const operation = {
          authorization: enrollment.authorization,
          chain,
          ownerSignature,
          deployed: false,
          mode: "enable",
          nonce,
          callData,
          gas
        } as const
        const signature = yield* Effect.promise(async () => {
          const args = await account.getFactoryArgs()
          return account.signUserOperation({
            sender: account.address,
            nonce,
            callData,
            ...args,
            ...gas,
            maxFeePerGas: 0n,
            maxPriorityFeePerGas: 0n,
            signature: "0x"
          })
        })
        assert.strictEqual(nonce >> 64n, nonceKey(chain.permissionId as Hex, "enable"))
        const agentSignature = yield* Effect.promise(() =>
          agent.signMessage({ message: { raw: operationHash(unsignedOperation(operation), ChainId.make(8453)) } })
        )
        assert.strictEqual(operationSignature(operation, agentSignature).toLowerCase(), signature.toLowerCase())
        assert.strictEqual(account.entryPoint.address, sdkAccount.entryPoint.address)
      })
    )

    it.effect("signs the same bytes every time, and all of it fits its schemas", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const execution = yield* SwapBatches
        const relay = yield* Relayer
        const enrollment = yield* tradingAccount(4n)
        const prepared = asTransaction(
          yield* execution.prepare(
            batchOf(enrollment, base, [
              yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(1n) })
            ])
          )
        )
        const signed = yield* relay.sign(prepared, 77)
        assert.deepStrictEqual(yield* relay.sign(prepared, 77), signed)
        assert.deepStrictEqual(yield* roundTrip(PreparedTransaction, prepared), prepared)
        assert.deepStrictEqual(yield* roundTrip(SignedTransaction, signed), signed)
        const transaction = parseTransaction(signed.raw as Hex)
        assert.strictEqual(transaction.nonce, 77)
        assert.strictEqual(transaction.chainId, 8453)
        const signer = yield* Effect.promise(() =>
          recoverTransactionAddress({ serializedTransaction: signed.raw as `0x02${string}` })
        )
        assert.strictEqual(signer, relayer.address)
        assert.strictEqual(relay.address as string, relayer.address)
      })
    )

    it.effect("refuses a batch whose minimum the pool no longer meets, and one that the account cannot pay", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const execution = yield* SwapBatches
        const enrollment = yield* tradingAccount(9n)
        const fresh = yield* enroll(10n, [[base, "USDC", "WETH"]])
        yield* fund(base, fresh.account, { symbol: "USDC", raw: dollars(10n) })
        const swap = yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })
        yield* execution.prepare(batchOf(fresh, base, [swap]))
        yield* setPrice(base, tokenBySymbol(base, "WETH"), { priceUsd: 2_600n * 10n ** 18n })
        for (const account of [enrollment, fresh]) {
          const error = yield* Effect.flip(execution.prepare(batchOf(account, base, [swap])))
          assert.strictEqual(error._tag, "SimulationFailed")
          assert.include(error.message, "INSUFFICIENT_OUTPUT_AMOUNT")
        }
        const tooMuch = yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(1_000_000n) })
        const back = { ...tooMuch, sell: tooMuch.buy, buy: tooMuch.sell, execution: reversed(tooMuch) }
        const withoutMinOut = { ...tooMuch, minBuyAmountRaw: 0n }
        const thereAndBack = [withoutMinOut, { ...back, sellAmountRaw: 1n, minBuyAmountRaw: 0n }]
        for (const swaps of [[tooMuch], [withoutMinOut], thereAndBack]) {
          const error = yield* Effect.flip(execution.prepare(batchOf(enrollment, base, swaps)))
          assert.strictEqual(error._tag, "SimulationFailed")
          assert.match(error.message, /TRANSFER_FROM_FAILED|ERC20InsufficientBalance|balance/u)
        }
      })
    )

    it.effect("refuses what the owner did not authorize, before or on the chain", () =>
      Effect.gen(function* () {
        const { arbitrum, base } = yield* EvmWorld
        const execution = yield* SwapBatches
        const enrollment = yield* enroll(12n, [[base, "USDC", "WETH"]])
        yield* fund(base, enrollment.account, { symbol: "USDC", raw: dollars(10n) })
        const swap = yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(1n) })
        const reason = (batch: Enrollment, chain: Chain, swaps = [swap]) =>
          Effect.map(
            Effect.flip(execution.prepare(batchOf(batch, chain, swaps))),
            ({ _tag, reason }) => `${_tag}: ${reason}`
          )
        assert.include(yield* reason(enrollment, arbitrum), "SimulationFailed: the owner did not authorize this chain")
        assert.include(yield* reason(enrollment, base, []), "at least one swap")
        assert.include(yield* reason(enrollment, base, [{ ...swap, execution: reversed(swap) }]), "a path leads from")
        assert.include(
          yield* reason(enrollment, base, [
            yield* quotedSwap(base, { sell: "USDC", buy: "AERO", sellAmountRaw: dollars(1n) })
          ]),
          "SimulationFailed: AA23"
        )
        const strangers = yield* Effect.promise(() =>
          stranger.signMessage({ message: { raw: enrollment.authorization.root as Hex } })
        )
        assert.include(
          yield* reason({ ...enrollment, ownerSignature: strangers }, base),
          "AuthorizationRequired: the account does not accept the owner's signature (AA23"
        )
        assert.include(yield* reason({ ...enrollment, ownerSignature: "0x1234" }, base), "65 bytes")
        const other = yield* enroll(13n, [[base, "USDC", "WETH", "AERO"]])
        assert.include(
          yield* reason({ ...enrollment, authorization: other.authorization }, base),
          "AuthorizationRequired: the account does not accept the owner's signature (AA23"
        )
        const path = [token(base, "USDC"), connectorTokensOf(base)[0]!, token(base, "WETH")]
        const many = Array.from({ length: 40 }, () => ({ ...swap, execution: { _tag: "Evm", path } as const }))
        assert.include(yield* reason(enrollment, base, many), "gas")
      })
    )

    it.effect("goes on from an account that somebody else deployed", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* enroll(15n, [[base, "USDC", "WETH"]])
        yield* fund(base, enrollment.account, { symbol: "USDC", raw: dollars(10n) })
        yield* deployAccount(base, enrollment.authorization)
        const swap = yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })
        assert.isTrue((yield* execute(batchOf(enrollment, base, [swap]))).receipt.success)
      })
    )

    it.effect("stops when the owner revokes, for good", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const execution = yield* SwapBatches
        const enrollment = yield* tradingAccount(16n)
        const unused = yield* enroll(16n, [[base, "USDC", "WETH"]])
        const batch = batchOf(enrollment, base, [
          yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })
        ])
        yield* execution.prepare(batch)
        yield* Effect.promise(() => revokeAll(base, owner, 16n))
        for (const revoked of [enrollment, unused]) {
          const error = yield* Effect.flip(execution.prepare({ ...batch, ...batchOf(revoked, base, batch.swaps) }))
          assert.include(error.message, "AA23")
        }
      })
    )

    it.effect("asks the chain for little", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* tradingAccount(17n)
        const batch = batchOf(enrollment, base, [
          yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(1n) })
        ])
        const proxy = yield* countingProxy(base.rpcUrl)
        const counted = adapterFor(configFor([base], () => proxy.url))
        // The start asks for the chain's id and contracts, once.
        const asked = yield* Effect.provide(
          Effect.gen(function* () {
            const { prepare } = yield* SwapBatches
            const started = proxy.requests.length
            yield* prepare(batch)
            return proxy.requests.slice(started)
          }),
          counted
        )
        assert.deepStrictEqual(asked.toSorted(), [
          "eth_call",
          "eth_call",
          "eth_feeHistory",
          "eth_getBlockByNumber",
          "eth_getTransactionCount"
        ])
      })
    )

    it.effect("a chain that does not answer is unavailable, without anything about its endpoint", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* tradingAccount(14n)
        const batch = batchOf(enrollment, base, [
          yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(1n) })
        ])
        const dead = adapterFor(configFor([base], () => "http://127.0.0.1:1/secret-key"))
        const error = yield* Effect.flip(
          Effect.provide(
            Effect.flatMap(SwapBatches, ({ prepare }) => prepare(batch)),
            dead
          )
        )
        assert.strictEqual(error._tag, "ChainUnavailable")
        assert.notInclude(error.message, "secret-key")
      })
    )
  })
})

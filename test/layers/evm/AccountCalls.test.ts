/**
 * Calls of an account in an integrator's words, on a real chain: what the guard's policy lets pass, and what a node
 * says of it.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Address, createWalletClient, encodeFunctionData, erc20Abi, type Hex, http } from "viem"
import { CallTracer } from "#domain/order/CallTracer.ts"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import { type Chain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import {
  batchOf,
  confirmed,
  type Enrollment,
  enroll,
  EvmWorld,
  execute,
  fund,
  GuardedWorldLive,
  quotedSwap,
  stranger
} from "#test/layers/evm/EvmWorld.ts"
import { balances, tradingAccount } from "#test/layers/evm/tradingAccount.ts"
import { asTransaction } from "#domain/relay/Transaction.ts"
import { evmPolicy } from "#layers/evm/address.ts"

const usdc = (chain: Chain) => tokenBySymbol(chain, "USDC").address

const callTo = (to: Address, data: string) => ({ to: to as string as EvmAddress, data: data.toLowerCase() })

const approval = (chain: Chain, spender: Address, amount: bigint) =>
  callTo(usdc(chain), encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, amount] }))

const transfer = (chain: Chain, to: Address, amount: bigint) =>
  callTo(usdc(chain), encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] }))

const callsOf = (enrollment: Enrollment, chain: Chain, ...calls: ReadonlyArray<ReturnType<typeof callTo>>) => ({
  ...batchOf(enrollment, chain, []),
  calls
})

const allowance = (chain: Chain, { account }: Enrollment) =>
  Effect.promise(() =>
    chain.client.readContract({
      address: usdc(chain),
      abi: erc20Abi,
      functionName: "allowance",
      args: [account as string as Address, chain.contracts.guard]
    })
  )

/**
 * A token whose `approve` counts down from a number and answers true: some 30 gas a round, paid by whoever calls it.
 */
const burner = "0x6013600c60003960136000f36024355b600190038060035760015f5260205ff3"

/**
 * A token whose `approve` answers true until it was called without data, and then reverts with an error of ERC-6093.
 */
const turncoat = "0x6025600c60003960256000f336156012575f5460185760015f5260205ff35b60015f55005b63fb8f41b25f526064601cfd"

const deployed = (chain: Chain, code: string) =>
  Effect.promise(async () => {
    const wallet = createWalletClient({ account: stranger, transport: http(chain.rpcUrl) })
    const hash = await wallet.sendTransaction({ chain: null, data: code as Hex })
    const { contractAddress } = await chain.client.waitForTransactionReceipt({ hash })
    return contractAddress!
  })

const approvalOf = (spender: Address, to: Address, amount: bigint) =>
  callTo(to, encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, amount] }))

describe("an account's calls", () => {
  layer(GuardedWorldLive, { excludeTestServices: true })((it) => {
    it.effect("pass where the guard lets them, and the node's estimate and trace show it before", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const enrollment = yield* tradingAccount(401n)
        const batch = callsOf(enrollment, chain, approval(chain, chain.contracts.guard, 7n))
        const prepared = asTransaction(yield* (yield* SwapBatches).prepare(batch))
        assert.isUndefined(prepared.bundleGas, "it goes alone")
        const { calls, gasUsed } = yield* (yield* CallTracer).trace(prepared)
        assert.isTrue(gasUsed > 50_000n && gasUsed <= prepared.gasLimit, `${gasUsed}`)
        const token = calls.filter(({ to }) => to?.toLowerCase() === usdc(chain).toLowerCase())
        assert.isAbove(token.length, 0)
        assert.isTrue(token.every(({ depth, error }) => depth > 0 && error === null))
        assert.strictEqual(yield* allowance(chain, enrollment), 0n, "nothing was sent")
        const { receipt } = yield* execute(batch)
        assert.isTrue(receipt.success)
        assert.strictEqual(yield* allowance(chain, enrollment), 7n)
      })
    )

    it.effect("are refused where the guard does not know them, and where they would revert; nothing moves", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const execution = yield* SwapBatches
        const enrollment = yield* tradingAccount(402n)
        const before = yield* balances(chain, enrollment.account)
        const { guard } = chain.contracts
        const refused = [
          [transfer(chain, stranger.address, 1n)],
          [approval(chain, stranger.address, 1n)],
          [approval(chain, guard, 1n), transfer(chain, stranger.address, 1n)],
          [callTo(guard, "0x12345678")],
          [callTo(enrollment.account as string as Address, "0x12345678")],
          [callTo(stranger.address, "0x")]
        ]
        for (const calls of refused) {
          const failure = yield* Effect.flip(execution.prepare(callsOf(enrollment, chain, ...calls)))
          assert.strictEqual(failure._tag, "SimulationFailed", JSON.stringify(calls))
        }
        assert.deepStrictEqual(yield* balances(chain, enrollment.account), before)
        assert.strictEqual(yield* allowance(chain, enrollment), 0n)
      })
    )

    it.effect("are simulated under the very limit of gas that they get", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const execution = yield* SwapBatches
        const enrollment = yield* tradingAccount(404n)
        const token = yield* deployed(chain, burner)
        const { guard } = chain.contracts
        // 1.45 million gas are what a call may use; the burner takes 2.6 million, and then 0.6 million.
        const refused = yield* Effect.flip(
          execution.prepare(callsOf(enrollment, chain, approvalOf(guard, token, 100_000n)))
        )
        assert.strictEqual(refused._tag, "SimulationFailed")
        assert.include(refused.message, "use more than the 1450000 gas")
        const { receipt } = yield* execute(callsOf(enrollment, chain, approvalOf(guard, token, 25_000n)))
        assert.isTrue(receipt.success, receipt.reason)
      })
    )

    it.effect("that revert on chain after all say why", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const relay = yield* Relayer
        const enrollment = yield* tradingAccount(405n)
        const token = yield* deployed(chain, turncoat)
        const batch = callsOf(enrollment, chain, approvalOf(chain.contracts.guard, token, 7n))
        const prepared = asTransaction(yield* (yield* SwapBatches).prepare(batch))
        yield* Effect.promise(async () => {
          const wallet = createWalletClient({ account: stranger, transport: http(chain.rpcUrl) })
          await chain.client.waitForTransactionReceipt({
            hash: await wallet.sendTransaction({ chain: null, to: token })
          })
        })
        const signed = yield* relay.sign(prepared, prepared.chainNonce)
        yield* relay.broadcast(signed)
        const receipt = yield* confirmed(signed, prepared.accountId)
        assert.isFalse(receipt.success)
        const nobody = "0x0000000000000000000000000000000000000000"
        assert.strictEqual(receipt.reason, `ERC20InsufficientAllowance(${nobody}, 0, 0)`)
      })
    )

    it.effect("are refused before the account is there, and under a permission of before the guard", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const execution = yield* SwapBatches
        const enrollment = yield* enroll(403n, [[chain, "USDC", "WETH"]])
        yield* fund(chain, enrollment.account, { symbol: "USDC", raw: 1_000_000_000n })
        const batch = callsOf(enrollment, chain, approval(chain, chain.contracts.guard, 7n))
        const early = yield* Effect.flip(execution.prepare(batch))
        assert.include(early.message, "not deployed yet")
        yield* execute(
          batchOf(enrollment, chain, [
            yield* quotedSwap(chain, { sell: "USDC", buy: "WETH", sellAmountRaw: 10_000_000n })
          ])
        )
        const [own] = enrollment.authorization.chains
        const { guard: _, ...policy } = evmPolicy(own)
        const authorization = { ...enrollment.authorization, chains: [{ ...own, policy }] as const }
        const old = yield* Effect.flip(execution.prepare({ ...batch, authorization }))
        assert.include(old.message, "before the trade guard")
      })
    )
  })
})

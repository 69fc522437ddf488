/** Orders that are recognized on a real chain by the operations that included them, without a record of those. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, DateTime, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { type Hex, keccak256, stringToHex } from "viem"
import { OperationTags } from "#domain/relay/OperationTags.ts"
import { makeOperationId, type OperationId } from "#domain/values/Ids.ts"
import { asTransaction } from "#domain/relay/Transaction.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import { withTag } from "#layers/evm/execution/operationTag.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import {
  accountOn,
  batchOf,
  chainIdOf,
  configFor,
  adapterFor,
  type Enrollment,
  EvmWorld,
  execute,
  GuardedWorldLive,
  mine,
  patientAdapter,
  quotedSwap,
  stranger
} from "#test/layers/evm/EvmWorld.ts"
import { balances, dollars, submit, tradingAccount } from "#test/layers/evm/tradingAccount.ts"

const swapOf = Effect.fnUntraced(function* (enrollment: Enrollment, chain: Chain, operationId?: OperationId) {
  const swap = yield* quotedSwap(
    chain,
    { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) },
    { toleranceBps: 100n }
  )
  return { ...batchOf(enrollment, chain, [swap]), ...(operationId === undefined ? {} : { operationId }) }
})

const sought = (
  enrollment: Enrollment,
  chain: Chain,
  { fromBlock = 0n, operationId }: { readonly operationId: OperationId; readonly fromBlock?: bigint | undefined }
) =>
  Effect.map(DateTime.now, (since) => ({
    chainId: chainIdOf(chain),
    accountId: accountOn(enrollment, chain),
    operationId,
    since,
    fromBlock
  }))

describe("an order", () => {
  layer(GuardedWorldLive.pipe(Layer.provideMerge(SecureRandom.layerWebCrypto)), { excludeTestServices: true })((it) => {
    it.effect(
      "is found by the operation that included it, once it is included; an operation without a tag is none",
      () =>
        Effect.gen(function* () {
          const { base: chain } = yield* EvmWorld
          const tags = yield* OperationTags
          const enrollment = yield* tradingAccount(501n)
          const [operationId, other] = [yield* makeOperationId, yield* makeOperationId]
          const order = yield* sought(enrollment, chain, { operationId })
          yield* execute(yield* swapOf(enrollment, chain))
          assert.deepStrictEqual(yield* tags.find(order), { _tag: "Absent" })
          const { receipt } = yield* execute(yield* swapOf(enrollment, chain, operationId))
          assert.isTrue(receipt.success)
          yield* execute(yield* swapOf(enrollment, chain, other))
          assert.deepStrictEqual(yield* tags.find(order), { _tag: "Included", receipt })
        })
    )

    it.effect("is not found in the operation of another account that names it", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const tags = yield* OperationTags
        const [own, other] = [yield* tradingAccount(502n), yield* tradingAccount(503n)]
        const operationId = yield* makeOperationId
        yield* execute(yield* swapOf(own, chain))
        yield* execute(yield* swapOf(other, chain, operationId))
        assert.deepStrictEqual(yield* tags.find(yield* sought(own, chain, { operationId })), { _tag: "Absent" })
      })
    )

    it.effect("is found when somebody else has submitted its operation", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const tags = yield* OperationTags
        const enrollment = yield* tradingAccount(504n)
        const operationId = yield* makeOperationId
        const before = yield* balances(chain, enrollment.account)
        const prepared = asTransaction(
          yield* (yield* SwapBatches).prepare(yield* swapOf(enrollment, chain, operationId))
        )
        yield* submit(chain, stranger, { data: prepared.callData as Hex })
        const found = yield* tags.find(yield* sought(enrollment, chain, { operationId }))
        assert.strictEqual(found._tag === "Included" && found.receipt.actionHash, prepared.actionHash)
        assert.notDeepEqual(yield* balances(chain, enrollment.account), before)
      })
    )

    it.effect("is pending until as many blocks confirm it as the deployment asks for", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const enrollment = yield* tradingAccount(505n)
        const operationId = yield* makeOperationId
        const order = yield* sought(enrollment, chain, { operationId })
        const confirmations = 3
        const patient = Context.get(yield* Layer.build(patientAdapter(chain, confirmations)), OperationTags)
        const { receipt } = yield* execute(yield* swapOf(enrollment, chain, operationId))
        for (let confirmed = 1; confirmed < confirmations; confirmed++) {
          assert.deepStrictEqual(yield* patient.find(order), { _tag: "Pending" }, `after ${confirmed} blocks`)
          yield* mine(chain)
        }
        assert.deepStrictEqual(yield* patient.find(order), { _tag: "Included", receipt })
      })
    )

    it.effect("is found on a chain that has made a thousand blocks since, faster than any that is known", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const enrollment = yield* tradingAccount(510n)
        const operationId = yield* makeOperationId
        const order = yield* sought(enrollment, chain, { operationId })
        const { receipt } = yield* execute(yield* swapOf(enrollment, chain, operationId))
        yield* Effect.promise(() => chain.client.mine({ blocks: 1_000 }))
        assert.deepStrictEqual(yield* (yield* OperationTags).find(order), { _tag: "Included", receipt })
      })
    )

    it.effect(
      "is in a block that the account's next operation names, or before it, also a moment after it landed",
      () =>
        Effect.gen(function* () {
          const { base: chain } = yield* EvmWorld
          const execution = yield* SwapBatches
          const enrollment = yield* tradingAccount(511n)
          yield* execute(yield* swapOf(enrollment, chain))
          const order = yield* swapOf(enrollment, chain, yield* makeOperationId)
          const first = asTransaction(yield* execution.prepare(order))
          const { blockNumber } = yield* submit(chain, stranger, { data: first.callData as Hex })
          const next = asTransaction(yield* execution.prepare(order))
          assert.notStrictEqual(next.actionHash, first.actionHash, "the nonce counts the first")
          assert.isTrue(next.fromBlock >= blockNumber, `${next.fromBlock} is before ${blockNumber}`)
        })
    )

    it.effect("is not said to be absent by a node that has not reached the block of the next operation", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const enrollment = yield* tradingAccount(506n)
        const head = yield* Effect.promise(() => chain.client.getBlockNumber({ cacheTime: 0 }))
        const order = yield* sought(enrollment, chain, {
          operationId: yield* makeOperationId,
          fromBlock: head + 1_000n
        })
        const failure = yield* Effect.flip((yield* OperationTags).find(order))
        assert.include(failure.message, `before ${head + 1_000n}`)
      })
    )

    it.effect("that was reverted is not found", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const enrollment = yield* tradingAccount(507n)
        const operationId = yield* makeOperationId
        const exact = yield* quotedSwap(chain, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })
        const prepared = asTransaction(
          yield* (yield* SwapBatches).prepare({ ...batchOf(enrollment, chain, [exact]), operationId })
        )
        // Somebody trades before it, so that it yields less than its minimum.
        yield* execute(yield* swapOf(yield* tradingAccount(508n), chain))
        const { logs } = yield* submit(chain, stranger, { data: prepared.callData as Hex })
        assert.isAbove(logs.length, 0)
        assert.deepStrictEqual(yield* (yield* OperationTags).find(yield* sought(enrollment, chain, { operationId })), {
          _tag: "Absent"
        })
      })
    )

    it.effect("is sought by endpoints that answer, although another one is down", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const enrollment = yield* tradingAccount(509n)
        const operationId = yield* makeOperationId
        const { receipt } = yield* execute(yield* swapOf(enrollment, chain, operationId))
        const config = configFor([chain])
        const rpcUrls = ["http://127.0.0.1:9", chain.rpcUrl] as const
        const adapter = adapterFor({ ...config, chains: config.chains.map((one) => ({ ...one, rpcUrls })) })
        const tags = Context.get(yield* Layer.build(adapter), OperationTags)
        assert.deepStrictEqual(yield* tags.find(yield* sought(enrollment, chain, { operationId })), {
          _tag: "Included",
          receipt
        })
      })
    )
  })

  layer(SecureRandom.layerWebCrypto)((it) => {
    it.effect("has a tag of sixteen bytes behind the calldata, and none when there is no order", () =>
      Effect.gen(function* () {
        const operationId = yield* makeOperationId
        const tag = keccak256(stringToHex(operationId)).slice(2, 34)
        assert.strictEqual(withTag("0xabcd", operationId), `0xabcd${tag}`)
        assert.strictEqual(withTag("0xabcd", undefined), "0xabcd")
      })
    )
  })
})

/**
 * What is concluded from nodes that do not show what has happened: nothing. Real operations on a real chain, seen
 * through nodes that are behind with receipts, logs and balances.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Hex } from "viem"
import { makeOperationId } from "#domain/values/Ids.ts"
import { ActionReceipts } from "#domain/relay/ActionReceipts.ts"
import { OperationTags } from "#domain/relay/OperationTags.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { asTransaction, toSign } from "#domain/relay/Transaction.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import { TransferReceipts } from "#domain/transfer/TransferReceipts.ts"
import { catalog } from "#sandbox/assets/catalog.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { adapterBehind, nodesOf } from "#test/layers/evm/absence/nodes.ts"
import {
  accountOn,
  adapterFor,
  asset,
  batchOf,
  chainIdOf,
  configFor,
  enroll,
  type Enrollment,
  EvmWorld,
  EvmWorldLive,
  execute,
  fund,
  mine,
  quotedSwap,
  relayer,
  stranger
} from "#test/layers/evm/EvmWorld.ts"
import { advance } from "#sandbox/chain/Market.ts"
import { dollars, submit, tradingAccount } from "#test/layers/evm/tradingAccount.ts"

const { chainId } = catalog[0]!

const swapOf = Effect.fnUntraced(function* (enrollment: Enrollment, chain: Chain) {
  return batchOf(enrollment, chain, [
    yield* quotedSwap(chain, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })
  ])
})

/** The service's adapter behind as many nodes of the chain. */
const behind = Effect.fnUntraced(function* (chain: Chain, endpoints: 1 | 2) {
  const { faults, services } = yield* adapterBehind(chain, endpoints)
  return {
    faults,
    actions: Context.get(services, ActionReceipts),
    tags: Context.get(services, OperationTags),
    receipts: Context.get(services, TransferReceipts)
  }
})

/** An operation that is signed and has no receipt; nothing of it was sent. */
const signedSwap = Effect.fnUntraced(function* (index: bigint, chain: Chain) {
  const enrollment = yield* tradingAccount(index)
  const prepared = asTransaction(yield* (yield* SwapBatches).prepare(yield* swapOf(enrollment, chain)))
  const signed = yield* (yield* Relayer).sign(prepared, prepared.chainNonce)
  return { enrollment, prepared, signed }
})

/** Gives the nonce of the relayer's next transaction to another one. Readings of nonces last for half a second. */
const overtake = (chain: Chain, nonce: number) =>
  Effect.andThen(submit(chain, relayer, { data: "0x", nonce }), Effect.sleep("600 millis"))

const lagging = { mode: "lagging", blocks: 3, of: ["receipts", "logs"] } as const

const endOf = (found: Option.Option<{ readonly success: boolean }>) =>
  Option.match(found, { onNone: () => "open", onSome: ({ success }) => (success ? "included" : "lost") })

describe("an operation", () => {
  layer(EvmWorldLive.pipe(Layer.provideMerge(SecureRandom.layerWebCrypto)), { excludeTestServices: true })((it) => {
    it.effect(
      "that landed is not lost while its node is behind with receipts and logs; it is found when that is not",
      () =>
        Effect.gen(function* () {
          const { base } = yield* EvmWorld
          const { actions, faults } = yield* behind(base, 1)
          const { prepared, signed } = yield* signedSwap(701n, base)
          yield* faults.set(`rpc:${chainId}`, lagging)
          yield* (yield* Relayer).broadcast(signed)
          assert.strictEqual(endOf(yield* actions.find(signed, prepared.accountId)), "open")
          assert.strictEqual(endOf(yield* actions.find(signed, prepared.accountId)), "open")
          yield* mine(base, 3)
          assert.strictEqual(endOf(yield* actions.find(signed, prepared.accountId)), "included")
        })
    )

    it.effect("that landed is not lost while half of its node's answers are old, of whatever kind", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { actions, faults } = yield* behind(base, 1)
        const { prepared, signed } = yield* signedSwap(702n, base)
        yield* faults.set(`rpc:${chainId}`, { mode: "stale", blocks: 2, share: 0.4 })
        yield* (yield* Relayer).broadcast(signed)
        for (let round = 0; round < 12; round++) {
          const found = yield* Effect.result(actions.find(signed, prepared.accountId))
          if (found._tag === "Success") assert.notStrictEqual(endOf(found.success), "lost")
        }
        yield* faults.set(`rpc:${chainId}`, { mode: "ok" })
        assert.strictEqual(endOf(yield* actions.find(signed, prepared.accountId)), "included")
      })
    )

    it.effect(
      "that somebody else submitted is not lost while the node is behind, though our own transaction is over",
      () =>
        Effect.gen(function* () {
          const { base } = yield* EvmWorld
          const { actions, faults } = yield* behind(base, 1)
          const { prepared, signed } = yield* signedSwap(703n, base)
          const taken = yield* submit(base, stranger, { data: prepared.callData as Hex })
          yield* overtake(base, prepared.chainNonce)
          yield* faults.set(`rpc:${chainId}`, lagging)
          assert.strictEqual(endOf(yield* actions.find(signed, prepared.accountId)), "open")
          yield* faults.set(`rpc:${chainId}`, { mode: "ok" })
          const found = Option.getOrThrow(yield* actions.find(signed, prepared.accountId))
          assert.deepStrictEqual([found.success, found.txHash], [true, taken.transactionHash])
        })
    )

    it.effect("is lost when its relayer's nonce went to another and its account's nonce is still its own", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { actions, faults } = yield* behind(base, 2)
        const { prepared, signed } = yield* signedSwap(704n, base)
        yield* overtake(base, prepared.chainNonce)
        // Neither node shows logs: what is concluded is concluded from state.
        yield* faults.set(`rpc:${chainId}`, { mode: "nologs" })
        assert.strictEqual(endOf(yield* actions.find(signed, prepared.accountId)), "lost")
      })
    )

    it.effect("is lost when another operation has used its account's nonce, once the event of that is shown", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { actions, faults } = yield* behind(base, 1)
        const { enrollment, prepared, signed } = yield* signedSwap(705n, base)
        const other = asTransaction(
          yield* (yield* SwapBatches).prepare(
            batchOf(enrollment, base, [
              yield* quotedSwap(
                base,
                { sell: "USDC", buy: "AERO", sellAmountRaw: dollars(7n) },
                {
                  connectorTokens: [],
                  toleranceBps: 50n
                }
              )
            ])
          )
        )
        yield* submit(base, stranger, { data: other.callData as Hex })
        yield* overtake(base, prepared.chainNonce)
        yield* faults.set(`rpc:${chainId}`, lagging)
        assert.strictEqual(endOf(yield* actions.find(signed, prepared.accountId)), "open")
        yield* faults.set(`rpc:${chainId}`, { mode: "ok" })
        assert.strictEqual(endOf(yield* actions.find(signed, prepared.accountId)), "lost")
      })
    )

    it.effect("is found by its own transaction where the nodes refuse logs, or take ranges of ten blocks", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { enrollment } = yield* signedSwap(706n, base)
        for (const fault of [{ mode: "nologs" }, { mode: "logrange", blocks: 10 }] as const) {
          const { actions, faults } = yield* behind(base, 2)
          yield* faults.set(`rpc:${chainId}`, fault)
          const { prepared, receipt, signed } = yield* execute(yield* swapOf(enrollment, base))
          yield* mine(base, 90)
          assert.deepStrictEqual(yield* actions.find(signed, prepared.accountId), Option.some(receipt))
        }
      })
    )

    it.effect("that somebody else submitted is found in narrow ranges of logs", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { actions, faults } = yield* behind(base, 1)
        const { prepared, signed } = yield* signedSwap(707n, base)
        yield* mine(base, 60)
        const taken = yield* submit(base, stranger, { data: prepared.callData as Hex })
        yield* overtake(base, prepared.chainNonce)
        yield* mine(base, 60)
        yield* faults.set(`rpc:${chainId}`, { mode: "logrange", blocks: 10 })
        const found = Option.getOrThrow(yield* actions.find(signed, prepared.accountId))
        assert.strictEqual(found.txHash, taken.transactionHash)
      })
    )

    it.effect(
      "of an order is not said to be absent while the node is behind with logs, so it is not signed again",
      () =>
        Effect.gen(function* () {
          const { base } = yield* EvmWorld
          const { faults, tags } = yield* behind(base, 1)
          const execution = yield* SwapBatches
          const enrollment = yield* tradingAccount(708n)
          const operationId = yield* makeOperationId
          const since = yield* DateTime.now
          const order = { ...(yield* swapOf(enrollment, base)), operationId }
          const { receipt } = yield* execute(order)
          const next = asTransaction(yield* execution.prepare(yield* swapOf(enrollment, base)))
          const sought = {
            chainId: chainIdOf(base),
            accountId: accountOn(enrollment, base),
            operationId,
            since,
            fromBlock: next.fromBlock,
            toSign: toSign(next)
          }
          yield* faults.set(`rpc:${chainId}`, lagging)
          assert.include((yield* Effect.flip(tags.find(sought))).reason, "does not show yet")
          yield* mine(base, 3)
          assert.deepStrictEqual(yield* tags.find(sought), { _tag: "Included", receipt })
          const other = { ...sought, operationId: yield* makeOperationId }
          assert.deepStrictEqual(yield* tags.find(other), { _tag: "Absent" })
        })
    )
  })
})

describe("a transfer between chains", () => {
  layer(EvmWorldLive.pipe(Layer.provideMerge(SecureRandom.layerWebCrypto)), { excludeTestServices: true })((it) => {
    it.effect(
      "has arrived by the token's own events since it was sent, though one of two nodes is behind with logs",
      () =>
        Effect.gen(function* () {
          const { arbitrum, base } = yield* EvmWorld
          const enrollment = yield* enroll(720n, [
            [base, "USDC", "WETH"],
            [arbitrum, "USDC", "WETH"]
          ])
          const [sender, receiver] = [accountOn(enrollment, base), accountOn(enrollment, arbitrum)]
          const bring = (raw: bigint) => fund(arbitrum, enrollment.account, { symbol: "USDC", raw })
          yield* bring(dollars(100n))
          yield* advance(arbitrum, 600_000)
          yield* advance(base, 600_000)
          const txHash = yield* fund(base, enrollment.account, { symbol: "USDC", raw: dollars(1n) })
          const nodes = yield* nodesOf(base, arbitrum)
          const config = configFor([base, arbitrum])
          const chains = config.chains.map((chain, index) => {
            const of = [base, arbitrum][index]!
            return { ...chain, rpcUrls: [nodes.url(of, 1), nodes.url(of, 2)] as const }
          })
          const services = yield* Layer.build(adapterFor({ ...config, chains }))
          const receipts = Context.get(services, TransferReceipts)
          const sought = {
            assetId: asset(arbitrum, "USDC"),
            least: dollars(99n),
            most: dollars(101n),
            after: { accountId: sender, txHash }
          }
          assert.deepStrictEqual(yield* receipts.incoming(receiver, sought), [], "what is older is not it")
          yield* bring(dollars(98n))
          yield* bring(dollars(102n))
          const arrived = yield* bring(dollars(100n))
          yield* nodes.faults.set(`rpc:${arbitrum.chainId as 42161}/1`, { mode: "lagging", blocks: 5, of: ["logs"] })
          assert.deepStrictEqual(yield* receipts.incoming(receiver, sought), [arrived])
          yield* nodes.faults.set(`rpc:${arbitrum.chainId as 42161}/1`, { mode: "logrange", blocks: 10 })
          assert.deepStrictEqual(yield* receipts.incoming(receiver, sought), [arrived])
        })
    )

    it.effect(
      "has not left while its account's nonce is unused, and is unknown while the node hides what used it",
      () =>
        Effect.gen(function* () {
          const { base } = yield* EvmWorld
          const { faults, receipts } = yield* behind(base, 1)
          const { prepared, signed } = yield* signedSwap(721n, base)
          const head = Effect.promise(() => base.client.getBlockNumber({ cacheTime: 0 }))
          const inclusionOf = (block: bigint) =>
            receipts.inclusionOf(prepared.accountId, prepared.actionHash, { transaction: signed, block })
          const before = yield* head
          assert.deepStrictEqual(yield* inclusionOf(before), Option.none())
          yield* (yield* Relayer).broadcast(signed)
          yield* faults.set(`rpc:${chainId}`, lagging)
          assert.deepStrictEqual(yield* inclusionOf(before), Option.none(), "not by the block at which it was read")
          assert.include((yield* Effect.flip(inclusionOf(yield* head))).reason, "no node shows in what")
          yield* faults.set(`rpc:${chainId}`, { mode: "ok" })
          const included = Option.getOrThrow(yield* inclusionOf(yield* head))
          assert.strictEqual(included.txHash, signed.txHash)
        })
    )
  })
})

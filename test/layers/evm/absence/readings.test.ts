/**
 * What is read through nodes that are behind: nothing that is acted on. Real accounts on a real chain, seen through two
 * nodes of which one or both have stopped to follow it.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer, Metric } from "effect"
import { SecureRandom } from "effect/crypto"
import { Balances } from "#domain/chain/Balances.ts"
import { ChainNodes } from "#domain/chain/ChainNodes.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import { chainEndpointBehind } from "#layers/evm/rpc/Endpoint.ts"
import { catalog } from "#sandbox/assets/catalog.ts"
import { advance } from "#sandbox/chain/Market.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { adapterBehind } from "#test/layers/evm/absence/nodes.ts"
import {
  accountOn,
  asset,
  batchOf,
  chainIdOf,
  enroll,
  type Enrollment,
  EvmWorld,
  EvmWorldLive,
  execute,
  fund,
  mine,
  quotedSwap
} from "#test/layers/evm/EvmWorld.ts"
import { dollars, tradingAccount } from "#test/layers/evm/tradingAccount.ts"

const { chainId } = catalog[0]!

/** The service's adapter behind as many nodes of the chain. */
const behind = Effect.fnUntraced(function* (
  chain: Chain,
  endpoints: 1 | 2,
  settings: { readonly headMaxAgeSeconds?: number; readonly confirmations?: number } = {}
) {
  const { faults, services } = yield* adapterBehind(chain, endpoints, settings)
  return {
    faults,
    balances: Context.get(services, Balances),
    nodes: Context.get(services, ChainNodes),
    execution: Context.get(services, SwapBatches)
  }
})

const permissionOf = ({ authorization }: Enrollment, chain: Chain) =>
  authorization.chains.find((one) => one.chainId === chain.chainId)!.permissionId

const headOf = ({ client }: Chain) => Effect.promise(() => client.getBlockNumber({ cacheTime: 0 }))

const swapOf = Effect.fnUntraced(function* (enrollment: Enrollment, chain: Chain) {
  return batchOf(enrollment, chain, [
    yield* quotedSwap(chain, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })
  ])
})

/** An account that holds 100 dollars since the latest block. */
const funded = Effect.fnUntraced(function* (index: bigint, chain: Chain) {
  const enrollment = yield* enroll(index, [[chain, "USDC", "WETH"]])
  yield* mine(chain, 6)
  yield* fund(chain, enrollment.account, { symbol: "USDC", raw: dollars(100n) })
  return { enrollment, account: accountOn(enrollment, chain), usdc: asset(chain, "USDC"), at: yield* headOf(chain) }
})

describe("a reading", () => {
  layer(EvmWorldLive.pipe(Layer.provideMerge(SecureRandom.layerWebCrypto)), { excludeTestServices: true })((it) => {
    it.effect("before the block that is needed is refused, and answered as old where it is only shown", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { balances, faults } = yield* behind(base, 1)
        const { account, at, usdc } = yield* funded(801n, base)
        yield* faults.set(`rpc:${chainId}`, { mode: "lagging", blocks: 5 })
        const refused = yield* Effect.flip(balances.read(account, [usdc], { notBefore: at }))
        assert.isTrue(refused.isBehind)
        assert.include(refused.reason, `at block ${at - 5n}`)
        const shown = yield* balances.read(account, [usdc], { notBefore: at, takesOld: true })
        assert.deepStrictEqual([shown.blockNumber, shown.balances[0]!.raw], [at - 5n, 0n])
        assert.include(shown.oldBecause, `seen at block ${at}`)
        yield* faults.set(`rpc:${chainId}`, { mode: "ok" })
        const current = yield* balances.read(account, [usdc], { notBefore: at })
        assert.deepStrictEqual([current.balances[0]!.raw, current.oldBecause], [dollars(100n), undefined])
      })
    )

    it.effect("is taken from the node that follows the chain, the first one too; the other is shown as behind", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { account, enrollment, usdc } = yield* funded(802n, base)
        yield* advance(base, 60_000)
        yield* fund(base, enrollment.account, { symbol: "USDC", raw: dollars(50n) })
        const { balances, faults, nodes } = yield* behind(base, 2)
        yield* faults.set(`rpc:${chainId}/1`, { mode: "lagging", blocks: 5 })
        assert.strictEqual((yield* balances.read(account, [usdc])).balances[0]!.raw, dollars(150n))
        assert.deepStrictEqual(yield* nodes.behind, [{ chainId: chainIdOf(base), endpoint: 1, blocks: 5n }])
        const gauge = Metric.withAttributes(chainEndpointBehind, { chain: String(chainId), endpoint: "1" })
        assert.strictEqual(Number((yield* Metric.value(gauge)).value), 5)
      })
    )

    it.effect("that is needed of a block is taken from the node that has it, whatever is known of them", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { balances, faults } = yield* behind(base, 2)
        const { account, at, usdc } = yield* funded(809n, base)
        assert.strictEqual((yield* balances.read(account, [usdc])).balances[0]!.raw, dollars(100n))
        yield* faults.set(`rpc:${chainId}/1`, { mode: "lagging", blocks: 5 })
        assert.strictEqual((yield* balances.read(account, [usdc], { notBefore: at })).blockNumber, at)
        // It is asked last now: what needs no block in particular comes from the other one as well.
        assert.strictEqual((yield* balances.read(account, [usdc])).blockNumber, at)
      })
    )

    it.effect("of a node that goes back behind what it has shown itself is refused", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { balances, faults } = yield* behind(base, 1)
        const { account, usdc } = yield* funded(803n, base)
        assert.strictEqual((yield* balances.read(account, [usdc])).balances[0]!.raw, dollars(100n))
        yield* faults.set(`rpc:${chainId}`, { mode: "lagging", blocks: 5, of: ["state"] })
        yield* Effect.sleep("3100 millis")
        assert.isTrue((yield* Effect.flip(balances.read(account, [usdc]))).isBehind)
        // Half of the machines behind one address: the second request meets another one.
        yield* faults.set(`rpc:${chainId}`, { mode: "stale", blocks: 5, of: ["state"], share: 0.5 })
        for (let round = 0; round < 6; round++)
          assert.strictEqual((yield* balances.read(account, [usdc])).balances[0]!.raw, dollars(100n))
      })
    )

    it.effect("by confirmed blocks is refused likewise", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { balances, faults } = yield* behind(base, 1, { confirmations: 3 })
        const { account, at, usdc } = yield* funded(804n, base)
        const early = yield* Effect.flip(balances.read(account, [usdc], { notBefore: at }))
        assert.isTrue(early.isBehind)
        yield* mine(base, 2)
        assert.strictEqual((yield* balances.read(account, [usdc], { notBefore: at })).blockNumber, at)
        yield* faults.set(`rpc:${chainId}`, { mode: "lagging", blocks: 1 })
        assert.isTrue((yield* Effect.flip(balances.read(account, [usdc], { notBefore: at }))).isBehind)
      })
    )

    it.effect("of one account is not refused for what another one in the same request needs", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { balances, faults } = yield* behind(base, 1)
        const before = yield* headOf(base)
        const { account, at, usdc } = yield* funded(805n, base)
        yield* faults.set(`rpc:${chainId}`, { mode: "lagging", blocks: 2 })
        const results = yield* balances.readMany(chainIdOf(base), [
          { account, assetIds: [usdc], notBefore: at },
          { account, assetIds: [usdc], notBefore: before }
        ])
        assert.deepStrictEqual(
          results.map(({ _tag }) => _tag),
          ["Failure", "Success"]
        )
      })
    )

    it.effect("counts the operations of the agent at its block, the first of which enables the permission", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { balances } = yield* behind(base, 1)
        const { account, enrollment, usdc } = yield* funded(806n, base)
        const permissionId = permissionOf(enrollment, base)
        const count = Effect.map(balances.read(account, [usdc], { permissionId }), ({ operations }) => operations)
        assert.strictEqual(yield* count, 0n)
        yield* execute(yield* swapOf(enrollment, base))
        assert.strictEqual(yield* count, 1n)
        yield* execute(yield* swapOf(enrollment, base))
        assert.strictEqual(yield* count, 2n)
      })
    )

    it.effect("of an account that has acted since makes no operation: the nonce that is signed was read with it", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { balances, execution } = yield* behind(base, 1)
        const enrollment = yield* tradingAccount(807n)
        const account = accountOn(enrollment, base)
        const permissionId = permissionOf(enrollment, base)
        const seen = yield* balances.read(account, [asset(base, "USDC")], { permissionId })
        const madeFrom = { blockNumber: seen.blockNumber, operations: seen.operations! }
        assert.isDefined(yield* execution.prepare({ ...(yield* swapOf(enrollment, base)), madeFrom }))
        yield* execute(yield* swapOf(enrollment, base))
        const batch = { ...(yield* swapOf(enrollment, base)), madeFrom }
        const refused = yield* Effect.flip(execution.prepare(batch))
        assert.strictEqual(refused._tag, "ChainUnavailable")
        assert.include(refused.message, `has acted between block ${seen.blockNumber}`)
      })
    )

    it.effect("makes no operation on nodes that have not reached its block, though they would take it", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { execution, faults } = yield* behind(base, 1)
        const enrollment = yield* tradingAccount(808n)
        yield* mine(base, 4)
        const batch = yield* swapOf(enrollment, base)
        yield* faults.set(`rpc:${chainId}`, { mode: "lagging", blocks: 2 })
        assert.isDefined(yield* execution.prepare(batch))
        const madeFrom = { blockNumber: yield* headOf(base) }
        const refused = yield* Effect.flip(execution.prepare({ ...batch, madeFrom }))
        assert.strictEqual(refused._tag, "ChainUnavailable")
        assert.include(refused.message, "its node is at block")
      })
    )
  })
})

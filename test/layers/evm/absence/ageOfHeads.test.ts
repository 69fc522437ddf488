/**
 * `HEAD_MAX_AGE_SECONDS` on a real chain: a node whose latest block is too old for the pace of its chain is not read
 * from, and a chain that stands is. Where nodes differ by one block their numbers say nothing, and the age alone does.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { Balances } from "#domain/chain/Balances.ts"
import { ChainNodes } from "#domain/chain/ChainNodes.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import { catalog } from "#sandbox/assets/catalog.ts"
import { advance } from "#sandbox/chain/Market.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { adapterBehind } from "#test/layers/evm/absence/nodes.ts"
import {
  accountOn,
  asset,
  batchOf,
  chainIdOf,
  EvmWorld,
  EvmWorldLive,
  fund,
  quotedSwap
} from "#test/layers/evm/EvmWorld.ts"
import { dollars, tradingAccount } from "#test/layers/evm/tradingAccount.ts"
import { MovableClock } from "#test/support/MovableClock.ts"

const { chainId } = catalog[0]!
const bound = 120

/** The service's adapter behind as many nodes of the chain, each of whose blocks may be so old. */
const readers = Effect.fnUntraced(function* (chain: Chain, endpoints: 1 | 2, headMaxAgeSeconds: number) {
  const { faults, services } = yield* adapterBehind(chain, endpoints, { headMaxAgeSeconds })
  return {
    faults,
    balances: Context.get(services, Balances),
    nodes: Context.get(services, ChainNodes),
    execution: Context.get(services, SwapBatches)
  }
})

/** The service's clock shows what the latest block says, and so many seconds more. */
const atHead = Effect.fnUntraced(function* (chain: Chain, secondsMore = 0) {
  const { timestamp } = yield* Effect.promise(() => chain.client.getBlock())
  const { advance: move } = yield* MovableClock
  const ahead =
    (Number(timestamp) + secondsMore) * 1_000 - (yield* Effect.clockWith((clock) => clock.currentTimeMillis))
  if (ahead > 0) move(ahead)
})

const headOf = ({ client }: Chain) => Effect.promise(() => client.getBlockNumber({ cacheTime: 0 }))

/** An account to which 50 dollars came in the chain's latest block, the first after a pause of ten minutes. */
const fundedAfterPause = Effect.fnUntraced(function* (index: bigint, chain: Chain) {
  const enrollment = yield* tradingAccount(index)
  const [account, usdc] = [accountOn(enrollment, chain), asset(chain, "USDC")]
  const { balances } = yield* readers(chain, 1, 86_400)
  const before = (yield* balances.read(account, [usdc])).balances[0]!.raw!
  yield* Effect.promise(() => chain.client.increaseTime({ seconds: 600 }))
  yield* fund(chain, enrollment.account, { symbol: "USDC", raw: dollars(50n) })
  yield* atHead(chain)
  return { account, enrollment, usdc, before, now: before + dollars(50n), at: yield* headOf(chain) }
})

describe("a node whose latest block is older than its chain's pace allows", () => {
  layer(EvmWorldLive.pipe(Layer.provideMerge(MovableClock.layer), Layer.provideMerge(SecureRandom.layerWebCrypto)), {
    excludeTestServices: true
  })((it) => {
    it.effect("is passed over for the one that shows a later block, and shown as behind", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { account, at, before, now, usdc } = yield* fundedAfterPause(811n, base)
        const patient = yield* readers(base, 2, 86_400)
        yield* patient.faults.set(`rpc:${chainId}/1`, { mode: "lagging", blocks: 1 })
        const old = yield* patient.balances.read(account, [usdc])
        assert.deepStrictEqual([old.blockNumber, old.balances[0]!.raw], [at - 1n, before], "nothing else refuses it")
        const { balances, faults, nodes } = yield* readers(base, 2, bound)
        yield* faults.set(`rpc:${chainId}/1`, { mode: "lagging", blocks: 1 })
        const read = yield* balances.read(account, [usdc])
        assert.deepStrictEqual([read.blockNumber, read.balances[0]!.raw], [at, now])
        assert.deepStrictEqual(yield* nodes.behind, [{ chainId: chainIdOf(base), endpoint: 1, blocks: 1n }])
      })
    )

    it.effect("makes no operation when it is the one that is left, and its balances are shown as old", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { account, at, before, enrollment, usdc } = yield* fundedAfterPause(812n, base)
        const batch = batchOf(enrollment, base, [
          yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })
        ])
        const { balances, execution, faults } = yield* readers(base, 2, bound)
        yield* faults.set(`rpc:${chainId}/1`, { mode: "lagging", blocks: 1 })
        yield* balances.read(account, [usdc])
        yield* faults.set(`rpc:${chainId}/2`, { mode: "down" })
        const refused = yield* Effect.flip(balances.read(account, [usdc]))
        assert.isTrue(refused.isBehind)
        assert.match(refused.reason, new RegExp(`block ${at - 1n}, the latest of its node, is \\d+ seconds old`, "u"))
        const error = yield* Effect.flip(execution.prepare(batch))
        assert.strictEqual(error._tag, "ChainUnavailable")
        const shown = yield* balances.read(account, [usdc], { takesOld: true })
        assert.deepStrictEqual([shown.blockNumber, shown.balances[0]!.raw], [at - 1n, before])
        assert.include(shown.oldBecause, "seconds old")
      })
    )
  })
})

describe("a chain that makes no blocks for a while", () => {
  layer(EvmWorldLive.pipe(Layer.provideMerge(MovableClock.layer), Layer.provideMerge(SecureRandom.layerWebCrypto)), {
    excludeTestServices: true
  })((it) => {
    it.effect("is read and traded on where both of its nodes show that it stands", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { account, at, enrollment, now, usdc } = yield* fundedAfterPause(813n, base)
        const batch = batchOf(enrollment, base, [
          yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })
        ])
        const { balances, execution, nodes } = yield* readers(base, 2, bound)
        yield* atHead(base, 10 * bound)
        const read = yield* balances.read(account, [usdc])
        assert.deepStrictEqual([read.blockNumber, read.balances[0]!.raw, read.oldBecause], [at, now, undefined])
        assert.isDefined(yield* execution.prepare(batch))
        assert.deepStrictEqual(yield* nodes.behind, [])
      })
    )

    it.effect("is read from its only node within what its pace allows, and beyond that nobody vouches for it", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { account, at, now, usdc } = yield* fundedAfterPause(814n, base)
        // An hour, as on chain 4663, whose blocks come when somebody needs one.
        const { balances } = yield* readers(base, 1, 3_600)
        yield* atHead(base, 3_000)
        const read = yield* balances.read(account, [usdc])
        assert.deepStrictEqual([read.blockNumber, read.balances[0]!.raw, read.oldBecause], [at, now, undefined])
        yield* atHead(base, 3_700)
        assert.isTrue((yield* Effect.flip(balances.read(account, [usdc]))).isBehind)
        yield* advance(base, 4_000_000)
        assert.strictEqual((yield* balances.read(account, [usdc])).blockNumber, at + 1n)
      })
    )
  })
})

import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Option } from "effect"
import { ChainCosts } from "#domain/chain/ChainCosts.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { adapterFor, chainIdOf, configFor, EvmWorld, EvmWorldLive, mine } from "#test/layers/evm/EvmWorld.ts"

/**
 * The next block has this base fee, and is made. It is empty, so the one after it asks for an eighth less (EIP-1559).
 */
const withBaseFee = Effect.fnUntraced(function* (chain: Chain, wei: bigint) {
  yield* Effect.promise(() => chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: wei }))
  yield* mine(chain)
})

/** Mines as many blocks as are read for tips; nobody pays one in empty blocks. */
const emptyBlocks = (chain: Chain) => Effect.promise(() => chain.client.mine({ blocks: 10 }))

/** Units of gas as measured, at a price. */
const costsAt = (wei: bigint) => ({ operation: 300_000n * wei, swap: 150_000n * wei })

/** Sets the clock so many milliseconds ahead. */
const ahead = Effect.fnUntraced(function* (ms: number) {
  const clock = yield* Clock.Clock
  const now = (yield* Clock.currentTimeMillis) + ms
  return Object.assign(Object.create(clock) as Clock.Clock, {
    currentTimeMillis: Effect.succeed(now),
    currentTimeMillisUnsafe: () => now
  })
})

layer(EvmWorldLive, { excludeTestServices: true })("ChainCosts", (it) => {
  it.effect(
    "are of an operation's and a swap's gas at the base fee of the next block and the usual tip, kept for a minute",
    () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { read } = yield* ChainCosts
        yield* emptyBlocks(base)
        yield* withBaseFee(base, 8_000_000_000n)
        assert.deepStrictEqual(yield* read(chainIdOf(base)), Option.some(costsAt(7_000_000_000n)))
        yield* withBaseFee(base, 16_000_000_000n)
        assert.deepStrictEqual(yield* read(chainIdOf(base)), Option.some(costsAt(7_000_000_000n)))
        const later = yield* Effect.provideService(read(chainIdOf(base)), Clock.Clock, yield* ahead(60_000))
        assert.deepStrictEqual(later, Option.some(costsAt(14_000_000_000n)))
      })
  )

  it.effect("is not known where the chain does not answer", () =>
    Effect.gen(function* () {
      const { base } = yield* EvmWorld
      const read = Effect.flatMap(ChainCosts, (costs) => costs.read(chainIdOf(base)))
      const unreachable = adapterFor(configFor([base], () => "http://127.0.0.1:1"))
      assert.deepStrictEqual(yield* Effect.provide(read, unreachable), Option.none())
    })
  )
})

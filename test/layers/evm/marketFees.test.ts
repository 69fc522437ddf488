/** What the chain takes for a unit of gas, while nodes suggest, lie or are silent. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { parseGwei, toHex } from "viem"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { readMarketFees } from "#layers/evm/rpc/marketFees.ts"
import { readBlockState } from "#layers/evm/execution/chainState.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { type CountingProxy, countingProxy } from "#test/layers/evm/countingProxy.ts"
import { chainIdOf, configFor, EvmWorld, EvmWorldLive } from "#test/layers/evm/EvmWorld.ts"

const result = (value: unknown) => ({ status: 200, body: JSON.stringify({ jsonrpc: "2.0", id: 1, result: value }) })

/** A node that shows these fees, in each of ten blocks. */
const showing =
  (baseFeePerGas: bigint, tip: bigint): CountingProxy["answer"] =>
  (method) =>
    method !== "eth_feeHistory"
      ? undefined
      : result({
          oldestBlock: "0x1",
          baseFeePerGas: Array.from({ length: 11 }, () => toHex(baseFeePerGas)),
          gasUsedRatio: Array.from({ length: 10 }, () => 0.5),
          reward: Array.from({ length: 10 }, () => [toHex(tip)])
        })

interface Limits {
  readonly minTip?: bigint
  readonly gasCeiling?: bigint
}

/** The base chain behind nodes that answer so, in their order. */
const behind = (base: Chain, answers: ReadonlyArray<CountingProxy["answer"]>, limits: Limits = {}) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const nodes = yield* Effect.forEach(answers, (answer) =>
        Effect.map(countingProxy(base.rpcUrl), (node) => Object.assign(node, { answer }))
      )
      const [first, ...others] = nodes.map(({ url }) => url)
      const config = configFor([base])
      const chain = { ...config.chains[0]!, ...limits, rpcUrls: [first!, ...others] as const }
      return Layer.fresh(EvmClients.layer).pipe(Layer.provide(Layer.succeed(EvmConfig, { ...config, chains: [chain] })))
    })
  )

const gwei = parseGwei("1")

describe("Fees of the market", () => {
  layer(EvmWorldLive, { excludeTestServices: true })((it) => {
    const shown = (answers: ReadonlyArray<CountingProxy["answer"]>, limits?: Limits) =>
      Effect.flatMap(EvmWorld, ({ base }) =>
        Effect.provide(readMarketFees(chainIdOf(base)), behind(base, answers, limits))
      )

    it.effect("are those of the latest blocks, whatever tip the node suggests", () =>
      Effect.gen(function* () {
        const suggests = (method: string) =>
          method === "eth_maxPriorityFeePerGas" ? result(toHex(400n * gwei)) : showing(3n * gwei, 5n)!(method)
        assert.deepStrictEqual(yield* shown([suggests]), { baseFeePerGas: 3n * gwei, tip: 5n })
      })
    )

    it.effect("are not those of one node among two or three that shows a tip of 400 gwei", () =>
      Effect.gen(function* () {
        const [honest, lying] = [showing(3n * gwei, 5n), showing(3n * gwei, 400n * gwei)]
        for (const nodes of [
          [lying, honest],
          [honest, lying],
          [lying, honest, honest]
        ]) {
          assert.deepStrictEqual(yield* shown(nodes), { baseFeePerGas: 3n * gwei, tip: 5n })
        }
      })
    )

    it.effect("take the highest base fee, since a block takes no more than its own", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* shown([showing(3n, 5n), showing(9n, 5n)]), { baseFeePerGas: 9n, tip: 5n })
      })
    )

    it.effect("come from those that answer, and are unknown when none does", () =>
      Effect.gen(function* () {
        const failing = () => ({ status: 503, body: "" })
        const empty = (method: string) => (method === "eth_feeHistory" ? result(null) : undefined)
        assert.deepStrictEqual(yield* shown([failing, showing(3n, 5n), empty]), { baseFeePerGas: 3n, tip: 5n })
        assert.strictEqual((yield* Effect.flip(shown([failing, empty])))._tag, "ChainUnavailable")
      })
    )

    it.effect("have the chain's least tip where blocks had room for less", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* shown([showing(3n, 0n)], { minTip: 7n }), { baseFeePerGas: 3n, tip: 7n })
      })
    )

    it.effect("are offered up to the ceiling, and nothing is made while they are above it", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const offered = (baseFeePerGas: bigint) =>
          readBlockState(chainIdOf(base)).pipe(
            Effect.provide(behind(base, [showing(baseFeePerGas, 2n * gwei)], { gasCeiling: 10n * gwei }))
          )
        const { maxFeePerGas, maxPriorityFeePerGas } = yield* offered(8n * gwei)
        assert.deepStrictEqual([maxFeePerGas, maxPriorityFeePerGas], [10n * gwei, 2n * gwei])
        const error = yield* Effect.flip(offered(9n * gwei))
        assert.include(error.message, "above the ceiling of 10000000000")
      })
    )
  })
})

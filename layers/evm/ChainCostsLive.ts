/** What operations cost: by the base fee of the next block and the usual tip, read at most once a minute a chain. */
import { Clock, Effect, Layer, Option } from "effect"
import type { ChainId } from "#domain/Caip.ts"
import { ChainCosts } from "#domain/chain/ChainCosts.ts"
import { spanIsAbout } from "#domain/spanAttributes.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { readMarketFees } from "#layers/evm/rpc/marketFees.ts"

const keptFor = 60_000

/**
 * Units of gas: an operation of an account that has code, and each swap in it; as measured on Kernel 0.3.1 and Uniswap
 * v2.
 */
const operationGas = 300_000n
const swapGas = 150_000n

export const ChainCostsLive = Layer.effect(
  ChainCosts,
  Effect.gen(function* () {
    const clients = yield* EvmClients
    const kept = new Map<ChainId, { readonly at: number; readonly wei: bigint }>()

    const gasPrice = Effect.fnUntraced(function* (chainId: ChainId) {
      const now = yield* Clock.currentTimeMillis
      const last = kept.get(chainId)
      if (last !== undefined && now >= last.at && now - last.at < keptFor) return last.wei
      const { baseFeePerGas, tip } = yield* readMarketFees(chainId)
      const wei = baseFeePerGas + tip
      kept.set(chainId, { at: now, wei })
      return wei
    })

    const read = Effect.fn("ChainCosts.read")(
      function* (chainId: ChainId) {
        yield* spanIsAbout({ chainId })
        const wei = yield* gasPrice(chainId)
        return Option.some({ operation: operationGas * wei, swap: swapGas * wei })
      },
      Effect.provideService(EvmClients, clients),
      Effect.catchTag("ChainUnavailable", () => Effect.succeedNone)
    )

    return { read }
  })
)

/**
 * What operations cost: by the base fee of the next block and the usual tip, and what a rollup charges beside it,
 * read at most once a minute a chain.
 */
import { Clock, Effect, Layer, Option } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import { ChainCosts, type ExpectedCosts } from "#domain/chain/ChainCosts.ts"
import { spanIsAbout } from "#domain/effects/spanAttributes.ts"
import { dataFeeOf, dataGasOf, operatorFeeOf, readDataCosts } from "#layers/evm/rpc/dataCosts.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { readMarketFees } from "#layers/evm/rpc/marketFees.ts"

const keptFor = 60_000

/**
 * Units of gas: an operation of an account that has code, and each swap in it; as measured on Kernel 0.3.1 and Uniswap
 * v2.
 */
const operationGas = 300_000n
const swapGas = 150_000n

/** Bytes of calldata: an operation with its signatures, and each swap in it with the prices that it is held against. */
const operationBytes = 1_400
const swapBytes = 400

export const ChainCostsLive = Layer.effect(
  ChainCosts,
  Effect.gen(function* () {
    const clients = yield* EvmClients
    const kept = new Map<ChainId, { readonly at: number; readonly costs: ExpectedCosts }>()

    const costsOn = Effect.fnUntraced(function* (chainId: ChainId) {
      const now = yield* Clock.currentTimeMillis
      const last = kept.get(chainId)
      if (last !== undefined && now >= last.at && now - last.at < keptFor) return last.costs
      const [{ baseFeePerGas, tip }, data] = yield* Effect.all([readMarketFees(chainId), readDataCosts(chainId)], {
        concurrency: "unbounded"
      })
      const wei = baseFeePerGas + tip
      const costOf = (gas: bigint, bytes: number) => {
        const units = gas + dataGasOf(data, bytes)
        return units * wei + dataFeeOf(data, bytes) + operatorFeeOf(data, units)
      }
      const operation = costOf(operationGas, operationBytes)
      const withSwap = costOf(operationGas + swapGas, operationBytes + swapBytes)
      const costs: ExpectedCosts = { operation, swap: withSwap - operation }
      kept.set(chainId, { at: now, costs })
      return costs
    })

    const read = Effect.fn("ChainCosts.read")(
      function* (chainId: ChainId) {
        yield* spanIsAbout({ chainId })
        return Option.some(yield* costsOn(chainId))
      },
      Effect.provideService(EvmClients, clients),
      Effect.catchTag("ChainUnavailable", () => Effect.succeedNone)
    )

    return { read }
  })
)

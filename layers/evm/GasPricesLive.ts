/** What gas costs: the base fee of the latest block and the usual tip, read at most once a minute a chain. */
import { Clock, Effect, Layer, Option } from "effect"
import type { ChainId } from "#domain/Caip.ts"
import { GasPrices } from "#domain/chain/GasPrices.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { readFees } from "#layers/evm/execution/chainState.ts"

const keptFor = 60_000

export const GasPricesLive = Layer.effect(
  GasPrices,
  Effect.gen(function* () {
    const clients = yield* EvmClients
    const kept = new Map<ChainId, { readonly at: number; readonly wei: bigint }>()

    const read = Effect.fn("GasPrices.read")(
      function* (chainId: ChainId) {
        const now = yield* Clock.currentTimeMillis
        const last = kept.get(chainId)
        if (last !== undefined && now >= last.at && now - last.at < keptFor) return Option.some(last.wei)
        const { maxFeePerGas, maxPriorityFeePerGas } = yield* readFees(chainId)
        // What is offered is twice the base fee and the tip.
        const wei = (maxFeePerGas + maxPriorityFeePerGas) / 2n
        kept.set(chainId, { at: now, wei })
        return Option.some(wei)
      },
      Effect.provideService(EvmClients, clients),
      Effect.catchTag("ChainUnavailable", () => Effect.succeedNone)
    )

    return { read }
  })
)

/** Reads the latest block of each supported chain; concurrent calls share one request. */
import { Duration, Effect, Layer } from "effect"
import { type ChainState, ChainStates } from "#domain/chain/ChainStates.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { type EvmChain, EvmConfig } from "#layers/evm/EvmConfig.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"

const freshFor = Duration.seconds(10)
/** A chain that takes longer than this is of no use to a run either. */
const timeout = Duration.seconds(3)

export const ChainStatesLive = Layer.effect(
  ChainStates,
  Effect.gen(function* () {
    const { chains } = yield* EvmConfig
    const { supported } = yield* Chains
    const clients = yield* EvmClients

    const stateOf = ({ chainId, confirmations }: EvmChain): Effect.Effect<ChainState> =>
      clients
        .request(chainId, "eth_blockNumber", (client) => client.getBlockNumber({ cacheTime: 0 }))
        .pipe(
          Effect.timeout(timeout),
          Effect.match({
            onSuccess: () => ({ chainId, confirmations, isAvailable: true }),
            onFailure: () => ({ chainId, confirmations, isAvailable: false })
          })
        )

    const states = yield* Effect.forEach(
      chains.filter(({ chainId }) => supported.includes(chainId)),
      (chain) => Effect.cachedWithTTL(stateOf(chain), freshFor)
    )
    return ChainStates.of({ all: Effect.all(states, { concurrency: "unbounded" }) })
  })
)

/** The native balances of the relayers, on every configured chain. */
import { Effect, Layer } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { type Funds, RelayerFunds } from "#domain/relay/RelayerFunds.ts"
import { spanIsAbout } from "#domain/effects/spanAttributes.ts"
import { toViem } from "#layers/evm/address.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"

export const RelayerFundsLive = Layer.effect(
  RelayerFunds,
  Effect.gen(function* () {
    const { chain, request } = yield* EvmClients
    const { chains } = yield* EvmConfig
    const { accounts } = yield* Relayer

    const read = Effect.fn("RelayerFunds.read")(function* (chainId: ChainId) {
      yield* spanIsAbout({ chainId })
      const { lowRelayerFunds } = yield* chain(chainId)
      return yield* Effect.forEach(accounts, (relayer) =>
        request(chainId, "eth_getBalance", (client) => client.getBalance({ address: toViem(relayer) })).pipe(
          Effect.map((balance): Funds => ({ chainId, relayer, balance, isLow: balance < lowRelayerFunds }))
        )
      )
    })

    return RelayerFunds.of({ chains: chains.map(({ chainId }) => chainId), read })
  })
)

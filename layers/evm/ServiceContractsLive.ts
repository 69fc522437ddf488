/**
 * The service's contracts on each configured chain, the guard and what it makes, RoutedSwap and the provider's contract
 * behind it included.
 */
import { Effect, Layer } from "effect"
import type { EvmAddress, ChainId } from "#domain/values/Caip.ts"
import { ServiceContracts } from "#domain/chain/ServiceContracts.ts"
import { fromViem } from "#layers/evm/address.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { requiredContracts } from "#layers/evm/requiredContracts.ts"
import { runnerOf, settlementRuleOf } from "#layers/evm/tradeGuard.ts"

const none: ReadonlySet<EvmAddress> = new Set()

export const ServiceContractsLive = Layer.effect(
  ServiceContracts,
  Effect.map(EvmConfig, ({ chains }) => {
    const byChain = new Map<ChainId, ReadonlySet<EvmAddress>>(
      chains.map((chain) => {
        const { guard, routedSwap } = chain
        const required = requiredContracts(chain).map(([, address]) => fromViem(address))
        const routed = routedSwap === undefined ? [] : [routedSwap.contract, routedSwap.target]
        const guarded = guard === undefined ? [] : [guard, runnerOf(guard), settlementRuleOf(guard)]
        return [chain.chainId, new Set([...required, ...routed, ...guarded])]
      })
    )
    return ServiceContracts.of({ on: (chainId) => byChain.get(chainId) ?? none })
  })
)

/** The supported chains are the configured ones. */
import { Effect, Layer } from "effect"
import { Chains } from "#domain/chain/Chains.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"

export const ChainsLive = Layer.effect(
  Chains,
  Effect.map(EvmConfig, ({ chains }) => Chains.of({ supported: chains.map(({ chainId }) => chainId) }))
)

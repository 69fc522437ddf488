/** Swaps as user operations of the agent that the relayer hands to the EntryPoint. */
import { Effect, Layer } from "effect"
import { SwapBatches, type SwapBatch } from "#domain/trading/SwapBatches.ts"
import { AgentSigner } from "#domain/relay/Signer.ts"
import { makeAttestedPrices } from "#layers/evm/attestation/attestedPrices.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { BlockReader } from "#layers/evm/execution/BlockReader.ts"
import { relayerAddresses } from "#layers/evm/execution/chainState.ts"
import { batchedSimulations } from "#layers/evm/execution/batchedSimulations.ts"
import { type Operators, prepareBatch } from "#layers/evm/execution/prepareBatch.ts"

export const SwapBatchesLive = Layer.effect(
  SwapBatches,
  Effect.gen(function* () {
    const clients = yield* EvmClients
    const relayers = yield* relayerAddresses
    const { chains } = yield* EvmConfig
    const simulations = new Map(
      yield* Effect.forEach(chains, ({ chainId }) =>
        Effect.map(batchedSimulations, (simulate) => [chainId, simulate] as const)
      ).pipe(Effect.provideService(EvmClients, clients))
    )
    const operators: Operators = {
      agent: yield* AgentSigner,
      relayers,
      readBlock: (yield* BlockReader).read,
      simulate: (simulation) => simulations.get(simulation.chainId)!(simulation)
    }

    const askAttested = yield* makeAttestedPrices

    const prepare = Effect.fn("SwapBatches.prepare")(
      (batch: SwapBatch) => prepareBatch(batch, operators, askAttested),
      Effect.provideService(EvmClients, clients)
    )

    return SwapBatches.preparedBy(prepare)
  })
)

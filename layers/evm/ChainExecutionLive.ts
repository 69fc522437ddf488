/** Swaps as user operations of the agent that the relayer hands to the EntryPoint. */
import { Effect, Layer } from "effect"
import { ChainExecution, type SwapBatch } from "#domain/trading/ChainExecution.ts"
import { AgentSigner, RelayerSigners } from "#domain/relay/Signer.ts"
import { toViem } from "#layers/evm/address.ts"
import { makeAttestedPrices } from "#layers/evm/attestation/attestedPrices.ts"
import { EvmClients } from "#layers/evm/EvmClients.ts"
import { type Operators, prepareBatch } from "#layers/evm/execution/prepareBatch.ts"

export const ChainExecutionLive = Layer.effect(
  ChainExecution,
  Effect.gen(function* () {
    const clients = yield* EvmClients
    const { lanes } = yield* RelayerSigners
    const [first, ...others] = lanes
    const operators: Operators = {
      agent: yield* AgentSigner,
      relayers: [toViem(first.address), ...others.map(({ address }) => toViem(address))]
    }

    const askAttested = yield* makeAttestedPrices

    const prepare = Effect.fn("ChainExecution.prepare")(
      (batch: SwapBatch) => prepareBatch(batch, operators, askAttested),
      Effect.provideService(EvmClients, clients)
    )

    return ChainExecution.of({ prepare })
  })
)

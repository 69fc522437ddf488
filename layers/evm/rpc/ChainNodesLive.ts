/** The endpoints that answered as of an old block within the last seconds. */
import { Effect, Layer } from "effect"
import { ChainNodes, type NodeBehind } from "#domain/chain/ChainNodes.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"

export const ChainNodesLive = Layer.effect(
  ChainNodes,
  Effect.gen(function* () {
    const { heads } = yield* EvmClients
    const { chains } = yield* EvmConfig

    const behindOn = ({ chainId }: (typeof chains)[number]) =>
      Effect.map(heads(chainId), (seen) =>
        seen.flatMap(({ blocksBehind: blocks }, position): ReadonlyArray<NodeBehind> =>
          blocks === 0n ? [] : [{ chainId, endpoint: position + 1, blocks }]
        )
      )

    return ChainNodes.of({ behind: Effect.map(Effect.forEach(chains, behindOn), (behind) => behind.flat()) })
  })
)

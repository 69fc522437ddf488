import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { type ChainState, ChainStates } from "#domain/chain/ChainStates.ts"
import { knownChain } from "#domain/chain/knownChains.ts"
import { usdcOn } from "#domain/chain/canonicalUsdc.ts"
import { success } from "#http/v2/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { buildGroup } from "#http/v2/buildGroup.ts"

const chainView = ({ chainId, confirmations, isAvailable }: ChainState) => {
  const known = knownChain(chainId)
  return {
    chainId,
    name: known?.name ?? `Chain ${chainId}`,
    status: isAvailable ? ("available" as const) : ("unavailable" as const),
    confirmations,
    usdcAssetId: usdcOn(chainId) ?? null,
    explorerUrl: known?.explorerUrl ?? null
  }
}

export const ChainsLive = HttpApiBuilder.group(
  V2,
  "chains",
  Effect.fnUntraced(function* (handlers) {
    const states = yield* ChainStates

    return handlers.handleAll({
      listChains: () => Effect.map(states.all, (chains) => success({ chains: chains.map(chainView) }))
    })
  })
).pipe(buildGroup(ChainStates))

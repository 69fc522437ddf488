import { Effect } from "effect"
import { isErc20 } from "#domain/values/Caip.ts"
import { JourneyFailed } from "#src/demo/JourneyFailed.ts"
import { Sandbox } from "#src/demo/Sandbox.ts"

/** The asset of that name on an EVM chain of the running world. */
export const assetOf = Effect.fnUntraced(function* (chainId: number, symbol: string) {
  const { overview } = yield* Sandbox
  const asset = overview.chains.find((chain) => chain.chainId === chainId)?.assets.find((one) => one.symbol === symbol)
  if (asset === undefined || !isErc20(asset.assetId))
    return yield* new JourneyFailed({ message: `This sandbox has no ${symbol} on chain ${chainId}` })
  return { ...asset, assetId: asset.assetId }
})

/** A listed on-chain asset. Symbol, name and decimals come from the token lists of the deployment. */
import type { AssetId, ChainId } from "#domain/Caip.ts"

export interface Asset {
  readonly assetId: AssetId
  readonly chainId: ChainId
  readonly symbol: string
  readonly name: string
  readonly decimals: number
  /** A blocked asset is neither accepted in allocations nor traded. */
  readonly isBlocked: boolean
}

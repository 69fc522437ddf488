/** A listed on-chain asset. Symbol and name come from the token lists of the deployment, decimals from its chain. */
import type { AssetId, ChainId } from "#domain/Caip.ts"

export interface Asset {
  readonly assetId: AssetId
  readonly chainId: ChainId
  readonly symbol: string
  readonly name: string
  readonly decimals: number
  /** A blocked asset is neither accepted in allocations nor traded. */
  readonly isBlocked: boolean
  /** Why it is blocked by what its own chain says, as the end of a sentence about it; left out where it is not. */
  readonly refusal?: string
}

/** Port: what gas costs on a chain now. Where it is not kept, gas is counted when an operation has been prepared. */
import { Context, Effect, type Option } from "effect"
import type { ChainId } from "#domain/Caip.ts"

export const GasPrices = Context.Reference<{
  /** Units of the chain's native asset (wei) for one unit of gas; none when the chain does not say. Never fails. */
  readonly read: (chainId: ChainId) => Effect.Effect<Option.Option<bigint>>
}>("ballast/domain/chain/GasPrices", { defaultValue: () => ({ read: () => Effect.succeedNone }) })

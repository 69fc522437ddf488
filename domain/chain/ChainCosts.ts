/** Port: what acting on a chain is expected to cost now, in the terms of no family. */
import { Context, Effect, type Option } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"

/** Units of the chain's native asset, in 18 decimals whatever it has itself. */
export interface ExpectedCosts {
  /** An operation of an account that is used already, without what is done in it. */
  readonly operation: bigint
  /** Each swap that it makes. */
  readonly swap: bigint
}

/**
 * What acting on a chain is expected to cost.
 *
 * **When to use**
 *
 * Use for policies, which weigh trades before an operation has been prepared; what a prepared one may cost is in it.
 * Where no layer keeps this port, nothing is known.
 */
export const ChainCosts = Context.Reference<{
  /** None when the chain does not say. Never fails. */
  readonly read: (chainId: ChainId) => Effect.Effect<Option.Option<ExpectedCosts>>
}>("ballast/domain/chain/ChainCosts", { defaultValue: () => ({ read: () => Effect.succeedNone }) })

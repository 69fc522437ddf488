/**
 * The chains of this deployment: those with a configured RPC endpoint. Source: interface "Limits" (supported chains).
 */
import { Context, Effect } from "effect"
import type { ChainId } from "#domain/Caip.ts"
import { ValidationFailed } from "#domain/Errors.ts"

export class Chains extends Context.Service<Chains, { readonly supported: ReadonlyArray<ChainId> }>()(
  "ballast/domain/chain/Chains"
) {}

/** Refuses chain ids that this deployment does not support; the error lists those it does. */
export const requireSupported = Effect.fnUntraced(function* (chainIds: ReadonlyArray<number>) {
  const { supported } = yield* Chains
  const known = new Set<number>(supported)
  const unknown = chainIds.filter((chainId) => !known.has(chainId))
  if (unknown.length > 0) {
    return yield* new ValidationFailed({
      message: `Unsupported chain ${unknown.join(", ")}; supported chains are ${supported.join(", ")}`,
      details: [`chainIds: unsupported ${unknown.join(", ")}`, `chainIds: supported ${supported.join(", ")}`]
    })
  }
  return chainIds as ReadonlyArray<ChainId>
})

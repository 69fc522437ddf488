/**
 * The chains of this deployment: those with a configured RPC endpoint. Source: interface "Limits" (supported chains).
 */
import { Context, Effect } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import { ValidationFailed } from "#domain/errors/Errors.ts"

/**
 * The chains that this deployment serves.
 *
 * **When to use**
 *
 * Use where a request names chains; `requireSupported` refuses the others.
 *
 * **Example** (A deployment of two chains)
 *
 * ```ts
 * import { Effect, Layer } from "effect"
 * import { ChainId } from "#domain/values/Caip.ts"
 * import { Chains, requireSupported } from "#domain/chain/Chains.ts"
 *
 * const BaseAndArbitrum = Layer.succeed(Chains, { supported: [8453, 42161].map((id) => ChainId.make(id)) })
 *
 * const chainIds = requireSupported([ChainId.make(8453)]).pipe(Effect.provide(BaseAndArbitrum))
 * ```
 */
export class Chains extends Context.Service<Chains, { readonly supported: ReadonlyArray<ChainId> }>()(
  "ballast/domain/chain/Chains"
) {}

/** Refuses chain ids that this deployment does not support; the error lists those it does. */
export const requireSupported = Effect.fnUntraced(function* (chainIds: ReadonlyArray<ChainId>) {
  const { supported } = yield* Chains
  const known = new Set(supported)
  const unknown = chainIds.filter((chainId) => !known.has(chainId))
  if (unknown.length > 0) {
    return yield* new ValidationFailed({
      message: `Unsupported chain ${unknown.join(", ")}; supported chains are ${supported.join(", ")}`,
      details: [`chainIds: unsupported ${unknown.join(", ")}`, `chainIds: supported ${supported.join(", ")}`]
    })
  }
  return chainIds
})

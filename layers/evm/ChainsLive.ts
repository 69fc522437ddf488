/**
 * The supported chains: the configured ones that have every contract that the service builds on. A chain that does not
 * answer at the start counts as supported, since nothing is known against it.
 */
import { Duration, Effect, Layer } from "effect"
import { Chains } from "#domain/chain/Chains.ts"
import { type EvmChain, EvmConfig } from "#layers/evm/EvmConfig.ts"
import { missingContracts } from "#layers/evm/missingContracts.ts"

const timeout = Duration.seconds(5)

const isUsable = Effect.fnUntraced(function* (chain: EvmChain) {
  const missing = yield* missingContracts(chain).pipe(Effect.timeout(timeout))
  if (missing.length === 0) return true
  yield* Effect.logError(
    `Chain ${chain.chainId} is not supported: it lacks ${missing.join(", ")}. Deploy them (docs/operations.md, "Contracts") and start again`
  )
  return false
})

export const ChainsLive = Layer.effect(
  Chains,
  Effect.gen(function* () {
    const { chains } = yield* EvmConfig
    const usable = yield* Effect.filter(
      chains,
      (chain) =>
        Effect.catch(isUsable(chain), ({ message }) =>
          Effect.as(Effect.logWarning(`The contracts of chain ${chain.chainId} could not be checked: ${message}`), true)
        ),
      { concurrency: "unbounded" }
    )
    return Chains.of({ supported: usable.map(({ chainId }) => chainId) })
  })
)

/** The agent's and the relayer's signers, each where the deployment keeps its key. */
import { Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { AgentSigner, RelayerSigners } from "#domain/relay/Signer.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { localSigner } from "#layers/evm/signer/localSigner.ts"
import { remoteSigner } from "#layers/evm/signer/remoteSigner.ts"
import type { SignerConfig } from "#layers/evm/SignerConfig.ts"

/** A signer where its key is kept. */
export const makeSigner = (config: SignerConfig) =>
  config.kind === "local" ? Effect.succeed(localSigner(config.key)) : remoteSigner(config)

/** AgentSigner and RelayerSigners. */
export const SignersLive = Layer.mergeAll(
  Layer.effect(
    AgentSigner,
    Effect.flatMap(EvmConfig, ({ agent }) => makeSigner(agent))
  ),
  Layer.effect(
    RelayerSigners,
    Effect.gen(function* () {
      const [first, ...others] = (yield* EvmConfig).relayers
      return { signers: [yield* makeSigner(first), ...(yield* Effect.forEach(others, makeSigner))] as const }
    })
  )
).pipe(Layer.provide(FetchHttpClient.layer))

/** The attestor where the deployment has it: in its own process, in this one, or nowhere. */
import { Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { PriceAttestor, refuseAll, RefusalCode } from "#domain/attestation/PriceAttestor.ts"
import { AttestorSigners } from "#domain/relay/Signer.ts"
import { AttestedGuards, AttestorConfig } from "#layers/attestor/AttestorConfig.ts"
import { OwnAttestor } from "#layers/attestor/OwnAttestor.ts"
import { RemoteAttestor } from "#layers/attestor/RemoteAttestor.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { makeSigner } from "#layers/evm/signer/SignersLive.ts"
import type { SignerConfig } from "#layers/evm/SignerConfig.ts"
import { CoinGecko } from "#layers/market/CoinGecko.ts"
import { LastPriceStore } from "#domain/market/LastPriceStore.ts"
import { PricesLive } from "#layers/market/PricesLive.ts"
import { LifiPriceCheck } from "#layers/routing/lifi/LifiPriceCheck.ts"

/** No attestor. */
export const NoAttestor = Layer.succeed(PriceAttestor, {
  attest: (request) =>
    Effect.succeed(refuseAll(request, RefusalCode.unavailable, "no attestor is configured; set ATTESTOR_URL"))
})

/**
 * An attestor over its own two sources. Needs the chains' clients, the guards to sign for, and how sources are reached.
 */
export const AttestorWith = (...[first, ...others]: readonly [SignerConfig, ...ReadonlyArray<SignerConfig>]) =>
  OwnAttestor.pipe(
    Layer.provide(
      Layer.effect(
        AttestorSigners,
        Effect.gen(function* () {
          return { keys: [yield* makeSigner(first), ...(yield* Effect.forEach(others, makeSigner))] as const }
        })
      ).pipe(Layer.provide(FetchHttpClient.layer))
    ),
    Layer.provide([PricesLive.pipe(Layer.provide([CoinGecko, LastPriceStore.none])), LifiPriceCheck])
  )

const guardsOfChains = Layer.effect(
  AttestedGuards,
  Effect.map(
    EvmConfig,
    ({ chains }) => new Map(chains.flatMap(({ chainId, guard }) => (guard === undefined ? [] : [[chainId, [guard]]])))
  )
)

export const PriceAttestorLive = Layer.unwrap(
  Effect.map(AttestorConfig, (choice) => {
    if (choice.kind === "none") return NoAttestor
    if (choice.kind === "process") return RemoteAttestor(choice)
    return AttestorWith(choice.signer).pipe(Layer.provide([guardsOfChains, EvmClients.layer]))
  })
)

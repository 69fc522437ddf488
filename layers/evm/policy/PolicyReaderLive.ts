/** What the agent may do on an account, by its chain. */
import { Effect, Layer } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import type { Grant } from "#domain/account/Grant.ts"
import { PolicyReader } from "#domain/policy/ChainPolicy.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { readPolicy } from "#layers/evm/policy/readPolicy.ts"

export const PolicyReaderLive = Layer.effect(
  PolicyReader,
  Effect.map(EvmClients, (clients) =>
    PolicyReader.of({
      read: Effect.fn("PolicyReader.read")(
        (grants: ReadonlyArray<Grant>, chainId: ChainId) => readPolicy(grants, chainId),
        Effect.provideService(EvmClients, clients)
      )
    })
  )
)

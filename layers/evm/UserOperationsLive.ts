/** User operations that the relayer hands to the EntryPoint, several in one transaction. */
import { Effect, Layer } from "effect"
import { RelayerSigners } from "#domain/relay/Signer.ts"
import type { PreparedTransaction } from "#domain/relay/Transaction.ts"
import { UserOperations } from "#domain/relay/UserOperations.ts"
import { toViem } from "#layers/evm/address.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { bundleOperations } from "#layers/evm/execution/bundleOperations.ts"

export const UserOperationsLive = Layer.effect(
  UserOperations,
  Effect.gen(function* () {
    const clients = yield* EvmClients
    const {
      signers: [first]
    } = yield* RelayerSigners
    const relayer = toViem(first.address)

    const bundle = Effect.fn("UserOperations.bundle")(
      (operations: readonly [PreparedTransaction, ...ReadonlyArray<PreparedTransaction>]) =>
        bundleOperations(operations, relayer),
      Effect.provideService(EvmClients, clients)
    )

    return UserOperations.of({ bundle })
  })
)

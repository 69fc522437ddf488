/** User operations that the relayer hands to the EntryPoint, alone or several in one transaction. */
import { Effect, Layer } from "effect"
import type { EvmAccountId } from "#domain/Caip.ts"
import { RelayerSigners } from "#domain/relay/Signer.ts"
import type { PreparedTransaction, SignedTransaction } from "#domain/relay/Transaction.ts"
import { UserOperations } from "#domain/relay/UserOperations.ts"
import { toViem } from "#layers/evm/address.ts"
import { EvmClients } from "#layers/evm/EvmClients.ts"
import { bundleOperations } from "#layers/evm/execution/bundleOperations.ts"
import { findReceipt } from "#layers/evm/execution/findReceipt.ts"

export const UserOperationsLive = Layer.effect(
  UserOperations,
  Effect.gen(function* () {
    const clients = yield* EvmClients
    const {
      lanes: [first]
    } = yield* RelayerSigners
    const relayer = toViem(first.address)

    const bundle = Effect.fn("UserOperations.bundle")(
      (operations: readonly [PreparedTransaction, ...ReadonlyArray<PreparedTransaction>]) =>
        bundleOperations(operations, relayer),
      Effect.provideService(EvmClients, clients)
    )

    const find = Effect.fn("UserOperations.find")(
      (transaction: SignedTransaction, accountId: EvmAccountId) => findReceipt(transaction, accountId),
      Effect.provideService(EvmClients, clients)
    )

    return UserOperations.of({ bundle, find })
  })
)

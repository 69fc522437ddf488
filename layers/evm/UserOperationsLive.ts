/** User operations that the relayer hands to the EntryPoint, alone or several in one transaction. */
import { Effect, Layer } from "effect"
import type { AccountId } from "#domain/Caip.ts"
import { RelayerSigners } from "#domain/relay/Signer.ts"
import type { PreparedTransaction, SignedTransaction } from "#domain/relay/Transaction.ts"
import { UserOperations } from "#domain/relay/UserOperations.ts"
import { toViem } from "#layers/evm/address.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { bundleOperations } from "#layers/evm/execution/bundleOperations.ts"
import { gatheredReceipts } from "#layers/evm/execution/gatheredReceipts.ts"
import { findReceipt } from "#layers/evm/execution/findReceipt.ts"

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

    const { chains } = yield* EvmConfig
    const receipts = new Map(
      yield* Effect.forEach(chains, ({ chainId }) =>
        Effect.map(gatheredReceipts(chainId), (gathered) => [chainId, gathered] as const)
      ).pipe(Effect.provideService(EvmClients, clients))
    )

    const find = Effect.fn("UserOperations.find")(
      function* (transaction: SignedTransaction, accountId: AccountId) {
        const gathered = receipts.get(transaction.chainId)
        const found =
          gathered === undefined
            ? "inconclusive"
            : yield* Effect.flatMap(gathered({ transaction, accountId }), Effect.fromResult)
        return found === "inconclusive" ? yield* findReceipt(transaction, accountId) : found
      },
      Effect.provideService(EvmClients, clients)
    )

    return UserOperations.of({ bundle, find })
  })
)

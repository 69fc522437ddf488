/** What became of user operations: one reading of a chain answers all that wait, else each is read by itself. */
import { Effect, Layer } from "effect"
import type { AccountId } from "#domain/values/Caip.ts"
import { CarriedActions } from "#domain/relay/CarriedActions.ts"
import type { SignedTransaction } from "#domain/relay/Transaction.ts"
import { spanIsAbout } from "#domain/effects/spanAttributes.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { gatheredReceipts } from "#layers/evm/execution/gatheredReceipts.ts"
import { findReceipt } from "#layers/evm/execution/findReceipt.ts"

export const CarriedActionsLive = Layer.effect(
  CarriedActions,
  Effect.gen(function* () {
    const clients = yield* EvmClients
    const { chains } = yield* EvmConfig
    const receipts = new Map(
      yield* Effect.forEach(chains, ({ chainId }) =>
        Effect.map(gatheredReceipts(chainId), (gathered) => [chainId, gathered] as const)
      ).pipe(Effect.provideService(EvmClients, clients))
    )

    const find = Effect.fn("CarriedActions.find")(
      function* (transaction: SignedTransaction, accountId: AccountId) {
        yield* spanIsAbout(transaction)
        const gathered = receipts.get(transaction.chainId)
        const found =
          gathered === undefined
            ? "inconclusive"
            : yield* Effect.flatMap(gathered({ transaction, accountId }), Effect.fromResult)
        return found === "inconclusive" ? yield* findReceipt(transaction, accountId) : found
      },
      Effect.provideService(EvmClients, clients)
    )

    return CarriedActions.of({ find })
  })
)

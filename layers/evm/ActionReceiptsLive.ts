/** What became of user operations: one reading of a chain answers all that wait, else each is read by itself. */
import { Effect, Layer } from "effect"
import type { AccountId } from "#domain/values/Caip.ts"
import { ActionReceipts } from "#domain/relay/ActionReceipts.ts"
import type { SignedTransaction } from "#domain/relay/Transaction.ts"
import { spanIsAbout } from "#domain/effects/spanAttributes.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { batchedReceipts } from "#layers/evm/execution/batchedReceipts.ts"
import { findReceipt } from "#layers/evm/execution/findReceipt.ts"

export const ActionReceiptsLive = Layer.effect(
  ActionReceipts,
  Effect.gen(function* () {
    const clients = yield* EvmClients
    const { chains } = yield* EvmConfig
    const receipts = new Map(
      yield* Effect.forEach(chains, ({ chainId }) =>
        Effect.map(batchedReceipts(chainId), (batches) => [chainId, batches] as const)
      ).pipe(Effect.provideService(EvmClients, clients))
    )

    const find = Effect.fn("ActionReceipts.find")(
      function* (transaction: SignedTransaction, accountId: AccountId) {
        yield* spanIsAbout(transaction)
        const batches = receipts.get(transaction.chainId)
        const found =
          batches === undefined
            ? "inconclusive"
            : yield* Effect.flatMap(batches({ transaction, accountId }), Effect.fromResult)
        return found === "inconclusive" ? yield* findReceipt(transaction, accountId) : found
      },
      Effect.provideService(EvmClients, clients)
    )

    return ActionReceipts.of({ find })
  })
)

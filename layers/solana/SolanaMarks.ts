/**
 * Whether chains show that an operation was carried out, on chains of all families. On Solana some of its steps may
 * have landed and others not: what landed is what the operation comes to.
 */
import { PublicKey } from "@solana/web3.js"
import { Effect, Layer } from "effect"
import { addressOf, namespaceOfChain } from "#domain/values/Caip.ts"
import { type MarkedOperation, OperationMarks, type SoughtOperation } from "#domain/relay/OperationMarks.ts"
import { markedReceipt } from "#layers/solana/execution/markedReceipt.ts"
import { markOfOperation } from "#layers/solana/execution/transactionMark.ts"
import { UnrecordedTransactions } from "#layers/solana/execution/UnrecordedTransactions.ts"

export const SolanaMarks = Layer.effect(
  OperationMarks,
  Effect.gen(function* () {
    const others = yield* OperationMarks
    const unrecorded = yield* UnrecordedTransactions

    const findHere = Effect.fnUntraced(
      function* ({ accountId, operationId, since }: SoughtOperation) {
        const mark = { ...markOfOperation(operationId), since }
        const found = yield* unrecorded.find(mark, new PublicKey(addressOf(accountId)))
        const receipt = markedReceipt(mark, found)
        const shown: MarkedOperation = receipt === undefined ? { _tag: "Absent" } : { _tag: "Carried", receipt }
        return shown
      },
      Effect.catchTag("LossUnsettled", ({ message }) =>
        Effect.as(Effect.logInfo(message), { _tag: "Pending" } satisfies MarkedOperation)
      )
    )

    return OperationMarks.of({
      find: (sought) => (namespaceOfChain(sought.chainId) === "solana" ? findHere(sought) : others.find(sought))
    })
  })
)

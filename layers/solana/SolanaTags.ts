/**
 * Whether chains show that an operation was carried out, on chains of all families. On Solana some of its steps may
 * have landed and others not: what landed is what the operation comes to.
 */
import { PublicKey } from "@solana/web3.js"
import { Effect, Layer } from "effect"
import { addressOf, namespaceOfChain } from "#domain/values/Caip.ts"
import { type TaggedOperation, OperationTags, type SoughtOperation } from "#domain/relay/OperationTags.ts"
import { taggedReceipt } from "#layers/solana/execution/taggedReceipt.ts"
import { tagOfOperation } from "#layers/solana/execution/transactionTag.ts"
import { UnrecordedTransactions } from "#layers/solana/execution/UnrecordedTransactions.ts"

export const SolanaTags = Layer.effect(
  OperationTags,
  Effect.gen(function* () {
    const others = yield* OperationTags
    const unrecorded = yield* UnrecordedTransactions

    const findHere = Effect.fnUntraced(
      function* ({ accountId, operationId, since }: SoughtOperation) {
        const tag = { ...tagOfOperation(operationId), since }
        const found = yield* unrecorded.find(tag, new PublicKey(addressOf(accountId)))
        const receipt = taggedReceipt(tag, found)
        const shown: TaggedOperation = receipt === undefined ? { _tag: "Absent" } : { _tag: "Included", receipt }
        return shown
      },
      Effect.catchTag("LossUnsettled", ({ message }) =>
        Effect.as(Effect.logInfo(message), { _tag: "Pending" } satisfies TaggedOperation)
      )
    )

    return OperationTags.of({
      find: (sought) => (namespaceOfChain(sought.chainId) === "solana" ? findHere(sought) : others.find(sought))
    })
  })
)

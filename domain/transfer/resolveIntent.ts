/**
 * Resolves intents of transfers whose run died before it recorded what became of them: by what the chain shows of the
 * action that was to include one, in the same way as the run itself would have. Repeating it is harmless, also by
 * several processes.
 */
import { DateTime, Effect, Option } from "effect"
import { chainIdOf } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { ActionReceipts } from "#domain/relay/ActionReceipts.ts"
import { RelayStore } from "#domain/relay/RelayStore.ts"
import { type TransferIntent, TransferLedger } from "#domain/transfer/TransferLedger.ts"

/**
 * `opened`: it left, and is watched now. `cancelled`: it did not and will not. `undecided`: the chain has not answered.
 */
export type IntentOutcome = "opened" | "cancelled" | "undecided"

/** Resolves an intent whose run has ended. */
export const makeResolveIntent = Effect.gen(function* () {
  const ledger = yield* TransferLedger
  const relay = yield* RelayStore
  const actions = yield* ActionReceipts

  return Effect.fn("resolveIntent")(function* (
    intent: TransferIntent
  ): Effect.fn.Return<IntentOutcome, ChainUnavailable> {
    const { accountId, attempt, runId, transfers } = intent
    const chainId = chainIdOf(accountId)
    const cancelIntent = Effect.as(ledger.cancelIntent(runId, chainId, attempt), "cancelled" as const)
    const id = { operationId: runId, chainId, attempt }
    const sent = yield* relay.sent(id)
    // The run ended before anything was signed, so nothing was ever sent.
    if (Option.isNone(sent)) return yield* cancelIntent
    const found = yield* actions.find(sent.value.transaction, accountId)
    if (Option.isNone(found)) return "undecided"
    const at = yield* DateTime.now
    yield* relay.recordReceipt(id, found.value, at)
    if (!found.value.success) return yield* cancelIntent
    yield* ledger.open({ runId, attempt, accountId, transfers, txHash: found.value.txHash, at })
    return "opened"
  })
})

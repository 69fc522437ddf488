/**
 * Resolves intents of transfers whose run died before it recorded what became of them: by what the chain shows of the
 * action that was to carry one, in the same way as the run itself would have. Repeating it is harmless, also by
 * several processes.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { chainIdOf } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { CarriedActions } from "#domain/relay/CarriedActions.ts"
import { RelayStore } from "#domain/relay/RelayStore.ts"
import { type TransferIntent, TransferLedger } from "#domain/transfer/TransferLedger.ts"

/**
 * `opened`: it left, and is watched now. `cancelled`: it did not and will not. `undecided`: the chain has not answered.
 */
export type IntentOutcome = "opened" | "cancelled" | "undecided"

/**
 * Resolves intents of transfers whose run died.
 *
 * **When to use**
 *
 * Use in `Reconciler`, for intents whose run has ended.
 */
export class TransferRecovery extends Context.Service<
  TransferRecovery,
  { readonly resolve: (intent: TransferIntent) => Effect.Effect<IntentOutcome, ChainUnavailable> }
>()("ballast/domain/transfer/TransferRecovery") {
  static readonly layer = Layer.effect(
    TransferRecovery,
    Effect.gen(function* () {
      const ledger = yield* TransferLedger
      const relay = yield* RelayStore
      const actions = yield* CarriedActions

      const resolve = Effect.fn("TransferRecovery.resolve")(function* (intent: TransferIntent) {
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

      return TransferRecovery.of({ resolve })
    })
  )
}

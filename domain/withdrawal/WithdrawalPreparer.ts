/**
 * Decides what to do next about an accepted withdrawal, from the state of the chain. May be repeated at any time:
 * nothing is sent, and what was carried out meanwhile, by any sender, is found.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { tokensOf } from "#domain/account/WithdrawalMessage.ts"
import { chainIdOf } from "#domain/values/Caip.ts"
import { Balances, holdingsIn } from "#domain/chain/Balances.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { SimulationFailed } from "#domain/trading/ChainExecution.ts"
import { ActionReceipt, PreparedAction } from "#domain/relay/Transaction.ts"
import { Liquidator } from "#domain/withdrawal/Liquidator.ts"
import { shortfalls } from "#domain/withdrawal/liveBalances.ts"
import { WithdrawalExecution } from "#domain/withdrawal/WithdrawalExecution.ts"
import type { StoredWithdrawal } from "#domain/withdrawal/WithdrawalStore.ts"

export const WithdrawalStep = Schema.Union([
  /** Ready to be signed by the relayer. */
  Schema.TaggedStruct("Ready", { prepared: PreparedAction }),
  /** Carried out already. */
  Schema.TaggedStruct("Landed", { receipt: ActionReceipt }),
  /** Something outside must change first, and may. */
  Schema.TaggedStruct("Waiting", { reason: Schema.String }),
  /** It would not succeed as things stand. */
  Schema.TaggedStruct("Refused", { reason: Schema.String }),
  /** It can no longer be carried out. */
  Schema.TaggedStruct("Closed", { reason: Schema.String }),
  /** It was cancelled. */
  Schema.TaggedStruct("Cancelled", {})
])
export type WithdrawalStep = typeof WithdrawalStep.Type

const refused = (reason: string): WithdrawalStep => ({ _tag: "Refused", reason })
const waiting = (reason: string): WithdrawalStep => ({ _tag: "Waiting", reason })

/**
 * The next thing to do about a withdrawal.
 *
 * **When to use**
 *
 * Use inside `WithdrawalRun`, again after each attempt.
 */
export class WithdrawalPreparer extends Context.Service<
  WithdrawalPreparer,
  { readonly next: (withdrawal: StoredWithdrawal) => Effect.Effect<WithdrawalStep> }
>()("ballast/domain/withdrawal/WithdrawalPreparer") {
  static readonly layer = Layer.effect(
    WithdrawalPreparer,
    Effect.gen(function* () {
      const operations = yield* OperationStore
      const balances = yield* Balances
      const execution = yield* WithdrawalExecution
      const liquidator = yield* Liquidator

      /** Without sales the text for a missing balance is better than the token's revert reason. */
      const preparePlain = Effect.fnUntraced(function* (withdrawal: StoredWithdrawal) {
        const { accountId, message } = withdrawal
        const read = yield* balances.read(
          accountId,
          tokensOf(message).map(({ assetId }) => assetId)
        )
        const missing = shortfalls(message.assets, holdingsIn(read))
        if (missing.length > 0) {
          return yield* new SimulationFailed({ chainId: chainIdOf(accountId), reason: missing.join("; ") })
        }
        return yield* execution.prepare(withdrawal)
      })

      const attempt = (withdrawal: StoredWithdrawal) =>
        (withdrawal.message.liquidate === true ? liquidator.prepare(withdrawal) : preparePlain(withdrawal)).pipe(
          Effect.map((prepared): WithdrawalStep => ({ _tag: "Ready", prepared })),
          Effect.catchTags({
            SimulationFailed: ({ reason }) => Effect.succeed(refused(reason)),
            LiquidationRefused: ({ reason }) => Effect.succeed(refused(reason)),
            PricesUnavailable: ({ message }) => Effect.succeed(waiting(message))
          })
        )

      const inspect = Effect.fnUntraced(function* (withdrawal: StoredWithdrawal) {
        // Read before the chain: a run that ends in between is a reason to read the chain once more.
        const isRebalancing = yield* operations.isRebalancing(withdrawal.message.portfolioId)
        const standing = yield* execution.standing(withdrawal)
        if (standing._tag !== "Open") return standing satisfies WithdrawalStep
        const step = yield* attempt(withdrawal)
        if (step._tag !== "Refused") return step
        // What another sender carried out meanwhile would be refused too.
        const again = yield* execution.standing(withdrawal)
        if (again._tag !== "Open") return again satisfies WithdrawalStep
        return isRebalancing ? waiting(`a rebalance of the portfolio is running: ${step.reason}`) : step
      })

      const next = Effect.fn("WithdrawalPreparer.next")((withdrawal: StoredWithdrawal) =>
        inspect(withdrawal).pipe(
          Effect.catchTag("ChainUnavailable", (error: ChainUnavailable) => Effect.succeed(waiting(error.message)))
        )
      )

      return WithdrawalPreparer.of({ next })
    })
  )
}

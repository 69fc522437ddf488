/**
 * Decides what to do next about an accepted withdrawal, from the state of the chain. May be repeated at any time:
 * nothing is sent, and what was carried out meanwhile, by any sender, is found.
 */
import { Effect, Schema } from "effect"
import { tokensOf } from "#domain/account/WithdrawalMessage.ts"
import { chainIdOf } from "#domain/values/Caip.ts"
import { Balances, holdingsIn } from "#domain/chain/Balances.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { Closed, type StepOf } from "#domain/relay/ActionStep.ts"
import { SimulationFailed } from "#domain/trading/SwapBatches.ts"
import { ActionReceipt, PreparedAction } from "#domain/relay/Transaction.ts"
import { Liquidator } from "#domain/withdrawal/Liquidator.ts"
import { shortfalls } from "#domain/withdrawal/liveBalances.ts"
import { WithdrawalTransactions } from "#domain/withdrawal/WithdrawalTransactions.ts"
import type { StoredWithdrawal } from "#domain/withdrawal/WithdrawalStore.ts"

/** What preparing a withdrawal may come to. */
export const withdrawalSteps = {
  ready: Schema.TaggedStruct("Ready", { prepared: PreparedAction }),
  landed: Schema.TaggedStruct("Landed", { receipt: ActionReceipt }),
  last: Closed
}
export type WithdrawalStep = StepOf<typeof withdrawalSteps>

const refused = (reason: string): WithdrawalStep => ({ _tag: "Refused", reason })
const waiting = (reason: string): WithdrawalStep => ({ _tag: "Waiting", reason })

/** The next thing to do about a withdrawal, also after an attempt. */
export const makePrepareWithdrawal = Effect.gen(function* () {
  const balances = yield* Balances
  const execution = yield* WithdrawalTransactions
  const liquidator = yield* Liquidator

  /** Prepares without sales: the text for a missing balance is better than the token's revert reason. */
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
    const standing = yield* execution.standing(withdrawal)
    if (standing._tag !== "Open") return standing satisfies WithdrawalStep
    const step = yield* attempt(withdrawal)
    if (step._tag !== "Refused") return step
    // What another sender carried out meanwhile would be refused too.
    const again = yield* execution.standing(withdrawal)
    return again._tag === "Open" ? step : (again satisfies WithdrawalStep)
  })

  return Effect.fn("prepareWithdrawal")((withdrawal: StoredWithdrawal) =>
    inspect(withdrawal).pipe(
      Effect.catchTag("ChainUnavailable", (error: ChainUnavailable) => Effect.succeed(waiting(error.message)))
    )
  )
})

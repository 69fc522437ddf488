/**
 * The transactions of a finished operation, from what its run left: a rebalance's report, a swap's and a withdrawal's
 * outcome, a transfer's ending.
 */
import { Schema } from "effect"
import { AccountId, AssetId, ChainId, chainIdOf } from "#domain/values/Caip.ts"
import type { LandedStep } from "#domain/execution/ExecutionEvent.ts"

const Receipt = Schema.Struct({
  actionHash: Schema.String,
  txHash: Schema.String,
  success: Schema.Boolean
})

/** Row of a step. Of stored documents only what is returned is read, so that they may grow. */
export const StepsRow = Schema.Struct({
  report: Schema.NullOr(
    Schema.Struct({
      chains: Schema.Array(
        Schema.Struct({
          chainId: ChainId,
          receipt: Schema.NullOr(Receipt)
        })
      )
    })
  ),
  withdrawal: Schema.NullOr(
    Schema.Struct({
      accountId: AccountId,
      outcome: Schema.NullOr(Schema.Struct({ txHash: Schema.String }))
    })
  ),
  action: Schema.NullOr(Schema.Struct({ chainId: ChainId, receipt: Receipt })),
  transfer: Schema.NullOr(
    Schema.Struct({
      accountId: AccountId,
      txHash: Schema.String,
      ending: Schema.NullOr(
        Schema.Struct({ received: Schema.NullOr(Schema.Struct({ assetId: AssetId, txHash: Schema.String })) })
      )
    })
  )
})

const withoutUserOperation = (chainId: ChainId, txHash: string): LandedStep => ({
  chainId,
  actionHash: null,
  txHash,
  success: true
})

const landedOf = (chainId: ChainId, { actionHash, success, txHash }: typeof Receipt.Type): LandedStep => ({
  chainId,
  actionHash,
  txHash,
  success
})

export const stepsOf = ({ action, report, transfer, withdrawal }: typeof StepsRow.Type): ReadonlyArray<LandedStep> => {
  const steps: Array<LandedStep> = []
  for (const { chainId, receipt } of report?.chains ?? []) {
    if (receipt !== null) steps.push(landedOf(chainId, receipt))
  }
  if (action !== null) steps.push(landedOf(action.chainId, action.receipt))
  if (withdrawal !== null && withdrawal.outcome !== null)
    steps.push(withoutUserOperation(chainIdOf(withdrawal.accountId), withdrawal.outcome.txHash))
  if (transfer !== null) {
    steps.push(withoutUserOperation(chainIdOf(transfer.accountId), transfer.txHash))
    const received = transfer.ending?.received ?? null
    if (received !== null) steps.push(withoutUserOperation(chainIdOf(received.assetId), received.txHash))
  }
  return steps
}

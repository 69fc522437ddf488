/** The receipt of an action of several steps, from what became of each; pure. */
import { Option } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"
import type { StepOutcome } from "#domain/relay/StepCarrier.ts"
import type { ActionReceipt, PreparedSteps } from "#domain/relay/Transaction.ts"

const includedOf = (outcome: StepOutcome) => {
  if (outcome._tag === "Landed") return [{ ...outcome, success: true }]
  return outcome._tag === "Failed" && outcome.included !== null ? [{ ...outcome.included, success: false }] : []
}

const unmadeOf = (outcome: StepOutcome, step: number) => {
  if (outcome._tag === "Landed") return []
  const isCancelled = outcome._tag === "Cancelled"
  return [
    { step, isCancelled, reason: isCancelled ? "the operation was cancelled before it was signed" : outcome.reason }
  ]
}

const summed = (outcomes: ReadonlyArray<StepOutcome>): ActionReceipt["deltas"] => {
  const sums = new Map<AssetId, bigint>()
  for (const { assetId, raw } of outcomes.flatMap((one) => (one._tag === "Landed" ? one.deltas : []))) {
    sums.set(assetId, (sums.get(assetId) ?? 0n) + raw)
  }
  return [...sums].map(([assetId, raw]) => ({ assetId, raw }))
}

/** Whether anything of the action was signed. */
export const isAnySigned = (outcomes: ReadonlyArray<StepOutcome>): boolean =>
  outcomes.some((one) => one._tag === "Landed" || (one._tag === "Failed" && one.isSigned))

/**
 * Of outcomes in the order of the steps; none where the operation was cancelled before anything was signed. The action
 * has success when one step landed.
 */
export const stepReceipt = (
  { lamportNative, slot: preparedAt, actionHash }: PreparedSteps,
  outcomes: ReadonlyArray<StepOutcome>
): Option.Option<ActionReceipt> => {
  if (outcomes.some(({ _tag }) => _tag === "Cancelled") && !isAnySigned(outcomes)) return Option.none()
  const included = outcomes.flatMap(includedOf)
  const last = included.findLast(({ success }) => success) ?? included.at(-1)
  const unmade = outcomes.flatMap(unmadeOf)
  return Option.some({
    actionHash,
    txHash: last?.txHash ?? actionHash,
    blockNumber: included.reduce((latest, { slot }) => (slot > latest ? slot : latest), preparedAt),
    blockHash: null,
    success: last?.success ?? false,
    gasUsed: included.reduce((sum, { feeRaw }) => sum + feeRaw, 0n),
    gasPriceRaw: lamportNative,
    deltas: summed(outcomes),
    transactions: included.map(({ feeRaw, success, txHash }) => ({ txHash, success, gasUsed: feeRaw })),
    ...(unmade.length === 0 ? {} : { unmade })
  })
}

/**
 * Carries the parts of an action out, one after the other, inside of a workflow. A part that has no effect does not
 * keep the later ones from being tried: what they lack is refused before it is signed.
 */
import { DateTime, Effect, Option, Schema } from "effect"
import { Activity, DurableClock } from "effect/workflow"
import type { AssetId } from "#domain/values/Caip.ts"
import type { InWorkflow } from "#domain/operation/InWorkflow.ts"
import type { OperationStore } from "#domain/operation/OperationStore.ts"
import type { AttemptId, RelayStore } from "#domain/relay/RelayStore.ts"
import type { RelayTiming } from "#domain/relay/RelayTiming.ts"
import { type PartRelay, PartOutcome } from "#domain/relay/PartRelay.ts"
import type { ActionReceipt, PreparedParts } from "#domain/relay/Transaction.ts"

interface Services {
  readonly operations: Pick<OperationStore["Service"], "transition">
  readonly store: Pick<RelayStore["Service"], "recordReceipt">
  readonly partRelay: typeof PartRelay.Service
  readonly timing: typeof RelayTiming.Service
}

const MaybeDecided = Schema.NullOr(PartOutcome)

/** One call of the relay of parts. */
interface Try {
  readonly attempt: AttemptId
  readonly prepared: PreparedParts
  /** The part's position. */
  readonly part: number
  /** Its number among the calls for the part, from 1 on. */
  readonly round: number
}

export const makeSubmitParts = ({ partRelay, operations, timing, store }: Services) => {
  const setState = Effect.fnUntraced(function* ({ operationId }: AttemptId, to: "running" | "retrying") {
    yield* operations.transition({ operationId, to, at: yield* DateTime.now, error: null })
  })

  const submitOnce = ({ attempt, prepared, round, part }: Try) =>
    Activity.make({
      name: `part/${attempt.chainId}/${attempt.attempt}/${part}/${round}`,
      success: MaybeDecided,
      execute: partRelay.submit(attempt, prepared, part).pipe(
        Effect.catchTag("ChainUnavailable", ({ message }) =>
          Effect.as(Effect.logWarning(message), Option.none<PartOutcome>())
        ),
        Effect.tap((outcome) => {
          if (Option.isNone(outcome)) return setState(attempt, "retrying")
          return round === 1 ? Effect.void : setState(attempt, "running")
        }),
        Effect.map(Option.getOrNull)
      )
    })

  /** What was signed may land at any later time, so it is polled until there is an answer. */
  const awaitOutcome = Effect.fnUntraced(function* (attempt: AttemptId, prepared: PreparedParts, part: number) {
    for (let round = 1; ; round++) {
      const outcome = yield* submitOnce({ attempt, prepared, part, round })
      if (outcome !== null) return outcome
      yield* DurableClock.sleep({
        name: `part/${attempt.chainId}/${attempt.attempt}/${part}/${round}`,
        duration: timing.searchInterval
      })
    }
  })

  const record = (attempt: AttemptId, receipt: ActionReceipt) =>
    Activity.make({
      name: `record/${attempt.chainId}/${attempt.attempt}`,
      execute: Effect.flatMap(DateTime.now, (at) => store.recordReceipt(attempt, receipt, at))
    })

  return Effect.fnUntraced(function* (
    attempt: AttemptId,
    prepared: PreparedParts
  ): Effect.fn.Return<Option.Option<ActionReceipt>, never, InWorkflow> {
    const outcomes = yield* Effect.forEach(prepared.parts, (_, part) => awaitOutcome(attempt, prepared, part))
    const receipt = stepReceipt(prepared, outcomes)
    if (Option.isSome(receipt) && isAnySigned(outcomes)) yield* record(attempt, receipt.value)
    return receipt
  })
}

const includedOf = (outcome: PartOutcome) => {
  if (outcome._tag === "Landed") return [{ ...outcome, success: true }]
  return outcome._tag === "Failed" && outcome.included !== null ? [{ ...outcome.included, success: false }] : []
}

const unmadeOf = (outcome: PartOutcome, part: number) => {
  if (outcome._tag === "Landed") return []
  const isCancelled = outcome._tag === "Cancelled"
  return [
    { part, isCancelled, reason: isCancelled ? "the operation was cancelled before it was signed" : outcome.reason }
  ]
}

const summed = (outcomes: ReadonlyArray<PartOutcome>): ActionReceipt["deltas"] => {
  const sums = new Map<AssetId, bigint>()
  for (const { assetId, raw } of outcomes.flatMap((one) => (one._tag === "Landed" ? one.deltas : []))) {
    sums.set(assetId, (sums.get(assetId) ?? 0n) + raw)
  }
  return [...sums].map(([assetId, raw]) => ({ assetId, raw }))
}

/** Whether anything of the action was signed. */
const isAnySigned = (outcomes: ReadonlyArray<PartOutcome>): boolean =>
  outcomes.some((one) => one._tag === "Landed" || (one._tag === "Failed" && one.isSigned))

/**
 * Makes a receipt of outcomes in the order of the parts; none where the operation was cancelled before anything was
 * signed. The action has success when one part landed.
 */
export const stepReceipt = (
  { lamportNative, slot: preparedAt, actionHash }: PreparedParts,
  outcomes: ReadonlyArray<PartOutcome>
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

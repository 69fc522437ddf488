/**
 * Decides what to do next about an action. Nothing is sent; may be repeated.
 *
 * An operation that failed may still be submitted by anyone who has seen it. The next one is made first, and then the
 * chain is read for those before: as long as none of them counts, the next has their nonce, and of all only one can
 * count.
 */
import { DateTime, Effect, Option } from "effect"
import type { StoredOrder } from "#domain/order/OrderStore.ts"
import { lifeOfCalls } from "#domain/order/CallsOrder.ts"
import { CallsPreparer } from "#domain/order/CallsPreparer.ts"
import { findLanded, revertedCalls, unrecordedSwap, withSwap } from "#domain/order/earlierAttempts.ts"
import { SwapPreparer, type SwapStep } from "#domain/order/SwapPreparer.ts"
import { ActionReceipts } from "#domain/relay/ActionReceipts.ts"
import type { NextAttempt } from "#domain/relay/ChainAction.ts"
import { OperationTags } from "#domain/relay/OperationTags.ts"
import { prepareUnlessIncluded } from "#domain/relay/prepareUnlessIncluded.ts"
import { RelayStore } from "#domain/relay/RelayStore.ts"
import { toSign } from "#domain/relay/Transaction.ts"

const pendingReason = "what may carry the order out is on its way, or in a block that does not count yet"

type Ready = Extract<SwapStep, { readonly _tag: "Ready" }>

/** The next operation of an action, or what the chain shows of those before. */
export const makePrepareAction = Effect.gen(function* () {
  const preparer = yield* SwapPreparer
  const calls = yield* CallsPreparer
  const tags = yield* OperationTags
  const landed = findLanded(yield* RelayStore, yield* ActionReceipts)

  const next = Effect.fnUntraced(function* (action: StoredOrder, isFirst: boolean): Effect.fn.Return<SwapStep> {
    const { order, submittedAt } = action
    if (order._tag === "Swap") return yield* preparer.next({ ...action, order }, isFirst)
    if (DateTime.isGreaterThan(yield* DateTime.now, DateTime.add(submittedAt, lifeOfCalls)))
      return { _tag: "Closed", reason: "the calls were not possible within two hours; ask for them anew" }
    return yield* calls.prepare(action, order, action.operationId).pipe(
      Effect.map((prepared): SwapStep => ({ _tag: "Ready", prepared })),
      Effect.catchTags({
        ChainUnavailable: ({ message }) => Effect.succeed<SwapStep>({ _tag: "Waiting", reason: message }),
        SimulationFailed: ({ reason }) => Effect.succeed<SwapStep>({ _tag: "Refused", reason })
      })
    )
  })

  /** The next operation, and whether one that has no record has carried the order out. */
  const nextUnlessIncluded = (action: StoredOrder, isFirst: boolean) =>
    prepareUnlessIncluded(tags, {
      chainId: action.order.chainId,
      operationId: action.operationId,
      since: action.submittedAt,
      accountOf: () => Effect.succeedSome(action.order.accountId),
      prepare: next(action, isFirst),
      toSign: (step) => (step._tag === "Ready" ? toSign(step.prepared) : undefined)
    })

  return Effect.fnUntraced(
    function* (action: StoredOrder, { attempt, setbacks }: NextAttempt<Ready>) {
      const shown = revertedCalls(action, setbacks) ?? (yield* nextUnlessIncluded(action, attempt === 1))
      const recorded = yield* landed(action, setbacks)
      if (Option.isSome(recorded)) return recorded.value
      switch (shown._tag) {
        case "Closed":
          return shown
        case "Unasked":
          return yield* shown.error
        case "Pending":
          return { _tag: "Pending", reason: pendingReason } satisfies SwapStep
        case "Included":
          return withSwap({ _tag: "Landed" as const, receipt: shown.receipt }, unrecordedSwap(action))
        case "Prepared":
          return shown.made
      }
    },
    // What cannot be asked may have been carried out.
    Effect.catch(({ message }) => Effect.succeed<SwapStep>({ _tag: "Pending", reason: message }))
  )
})

/**
 * Trades of a run that are on chain and not in the database, as after a failover to a replica that lacks the last
 * commits. Such a replica may have the plan of a run and not that it was carried out: acting on that plan again would
 * trade twice what is to be traded once. So the chain is read when the next batch has been prepared, whatever came of
 * it.
 */
import { Effect, Option } from "effect"
import { authorizedChains } from "#domain/account/Grant.ts"
import type { AssetId } from "#domain/values/Caip.ts"
import { chainRetry } from "#domain/rebalance/BatchPreparer.ts"
import { type BatchStep, type LandedBatch, nothing, type Preparation } from "#domain/rebalance/Preparation.ts"
import type { PlannedChain } from "#domain/planning/PlannedChain.ts"
import type { RunPlan } from "#domain/rebalance/RunPlan.ts"
import { RunStore } from "#domain/rebalance/RunStore.ts"
import { OperationTags } from "#domain/relay/OperationTags.ts"
import { prepareUnlessIncluded } from "#domain/relay/prepareUnlessIncluded.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import { chainSkip, SkipCode } from "#domain/values/Skip.ts"
import { assumedExecution, type Swap } from "#domain/trading/Swap.ts"

const pendingReason = "what may carry trades of this run out is on its way, or in a block that does not count yet"

/** A plan that is to be carried out on a chain, and what makes its next batch. */
export interface NextBatch {
  readonly attempt: AttemptId
  readonly plan: RunPlan
  readonly prepare: Effect.Effect<Preparation>
}

/** The next batch, or what the chain shows of those before. Nothing is to be signed of a chain that cannot say. */
export const makePrepareUnlessTraded = Effect.gen(function* () {
  const runs = yield* RunStore
  const tags = yield* OperationTags
  const patient = OperationTags.of({ find: (sought) => Effect.retry(tags.find(sought), chainRetry) })

  const readAccount = ({ chainId, operationId }: AttemptId) =>
    Effect.map(Effect.orDie(Effect.flatMap(runs.context(operationId), Effect.fromOption)), ({ grants }) => {
      const account = authorizedChains(grants).find((chain) => chain.chainId === chainId)
      return Option.fromUndefinedOr(account?.accountId)
    })

  return Effect.fnUntraced(function* ({
    attempt,
    plan: { chains, plannedAt },
    prepare
  }: NextBatch): Effect.fn.Return<BatchStep> {
    const { chainId, operationId } = attempt
    const next = yield* prepareUnlessIncluded(patient, {
      chainId,
      operationId,
      since: plannedAt,
      accountOf: (preparation) =>
        preparation._tag === "Ready" ? Effect.succeedSome(preparation.prepared.accountId) : readAccount(attempt),
      prepare,
      toSign: (preparation) => (preparation._tag === "Ready" ? preparation.prepared.toSign : undefined)
    })
    if (next._tag === "Prepared") return next.made
    if (next._tag === "Pending") return { _tag: "Pending", reason: pendingReason }
    if (next._tag === "Unasked") return unasked(next.made, next.error.message)
    const { receipt } = next
    const planned = chains.find((chain) => chain.chainId === chainId)
    yield* Effect.logWarning("The chain shows trades of this run that are not recorded", {
      chainId,
      txHash: receipt.txHash,
      ...((planned?.transfers ?? []).length === 0 ? {} : { hint: "value may be on its way to another chain" })
    })
    return { _tag: "Landed", receipt, swaps: swapsIn(receipt, planned?.legs ?? []) } satisfies LandedBatch
  })
})

/** Nothing is signed while it is not known whether the chain has included it already. */
const unasked = (preparation: Preparation, reason: string): Preparation =>
  preparation._tag === "Ready"
    ? nothing([...preparation.skips, chainSkip(SkipCode.chainUnavailable, reason)], reason)
    : preparation

/**
 * The planned swaps of which the receipt shows both sides. Of an asset that one of them sells the receipt has the
 * amount; minimums are lost with the quotes.
 */
const swapsIn = ({ deltas }: ActionReceipt, legs: PlannedChain["legs"]): ReadonlyArray<Swap> => {
  const changeOf = (assetId: AssetId) => deltas.find((delta) => delta.assetId === assetId)?.raw ?? 0n
  const made = legs.filter(({ buy, sell }) => changeOf(sell) < 0n && changeOf(buy) > 0n)
  return made.map(({ buy, sell, sellAmountRaw }) => ({
    sell,
    buy,
    sellAmountRaw: made.filter((leg) => leg.sell === sell).length === 1 ? -changeOf(sell) : sellAmountRaw,
    minBuyAmountRaw: 0n,
    execution: assumedExecution({ sell, buy })
  }))
}

/**
 * Carries a plan out on one chain.
 *
 * An attempt is `prepare` (quotes, limits, a simulated user operation; may repeat), then `BatchCarrier`, which puts it
 * on chain exactly once. A batch that the chain reverted moved nothing; the next attempt starts from a fresh plan. One
 * that came to nothing because of others in its transaction is carried alone after that. Where the agent can do nothing
 * without a new signature of the owner, it returns that at once, and the caller decides how to wait.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { Activity, DurableClock } from "effect/workflow"
import type { OperationId } from "#domain/values/Ids.ts"
import { AccountQueue } from "#domain/operation/AccountQueue.ts"
import { inAccountTurn, InLine, lineDelay } from "#domain/operation/inAccountTurn.ts"
import type { InWorkflow } from "#domain/operation/InWorkflow.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { BatchCarrier } from "#domain/rebalance/BatchCarrier.ts"
import { BatchPreparer } from "#domain/rebalance/BatchPreparer.ts"
import { Preparation, type Ready } from "#domain/rebalance/Preparation.ts"
import { type PlannedChain, plannedUsd } from "#domain/planning/PlannedChain.ts"
import type { RunPlan } from "#domain/rebalance/RunPlan.ts"
import { chainSkip, dollars, type RecordedSkip, SkipCode } from "#domain/values/Skip.ts"
import type { ChainOutcome } from "#domain/rebalance/RunReport.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import { SignatureRequests } from "#domain/rebalance/SignatureRequests.ts"
import { RelayTiming } from "#domain/relay/RelayTiming.ts"
import { Unrecorded, UnrecordedTrades } from "#domain/rebalance/UnrecordedTrades.ts"

const maxAttempts = 3

const PreparedOrThere = Schema.Union([Preparation, Unrecorded, InLine])

/** What is left to be done on a chain once its owner has signed anew. */
export interface ReauthorizationRequired {
  readonly chain: PlannedChain
  readonly reason: string
  /** The attempt that was refused. */
  readonly attempt: number
}

/** What a run trades on one chain. */
export interface ChainTrade {
  readonly operationId: OperationId
  readonly plan: RunPlan
  readonly chain: PlannedChain
  /** The number of the first attempt. */
  readonly firstAttempt: number
}

/**
 * Carries a plan out on one chain.
 *
 * **When to use**
 *
 * Use in `RebalanceRun`, for all chains of a plan in parallel.
 */
export class ChainTrader extends Context.Service<
  ChainTrader,
  {
    /**
     * Always ends with an outcome, in which is what could not be done, or fails with what the owner must sign first.
     * Must run inside a workflow.
     */
    readonly trade: (trade: ChainTrade) => Effect.Effect<ChainOutcome, ReauthorizationRequired, InWorkflow>
  }
>()("ballast/domain/rebalance/ChainTrader") {
  static readonly layer = Layer.effect(
    ChainTrader,
    Effect.gen(function* () {
      return ChainTrader.of({
        trade: makeTrade({
          operations: yield* OperationStore,
          queue: yield* AccountQueue,
          preparer: yield* BatchPreparer,
          unrecorded: yield* UnrecordedTrades,
          carrier: yield* BatchCarrier,
          wait: yield* SignatureRequests,
          timing: yield* RelayTiming
        })
      })
    })
  ).pipe(Layer.provide(BatchCarrier.layer))
}

interface Services {
  readonly operations: OperationStore["Service"]
  readonly queue: AccountQueue["Service"]
  readonly preparer: BatchPreparer["Service"]
  readonly unrecorded: UnrecordedTrades["Service"]
  readonly carrier: BatchCarrier["Service"]
  readonly wait: SignatureRequests["Service"]
  readonly timing: typeof RelayTiming.Service
}

const makeTrade = ({ carrier, operations, timing, preparer, queue, unrecorded, wait }: Services) => {
  const inTurn = inAccountTurn({ operations, queue })

  const prepare = (attempt: AttemptId, plan: RunPlan, hasReverted: boolean) =>
    Activity.make({
      name: `prepare/${attempt.chainId}/${attempt.attempt}`,
      success: PreparedOrThere,
      execute: inTurn(
        { request: attempt, isToBeSigned: ({ _tag }) => _tag === "Ready" },
        unrecorded.prepareUnlessThere({ attempt, plan, prepare: preparer.prepare(attempt, plan, hasReverted) })
      )
    })

  /** The next operation of the account need not wait until all chains of this one are done. */
  const release = (attempt: AttemptId) =>
    Activity.make({ name: `release/${attempt.chainId}/${attempt.attempt}`, execute: queue.release(attempt) })

  const waitInLine = ({ attempt, chainId }: AttemptId, line: InLine) =>
    DurableClock.sleep({ name: `line/${chainId}/${attempt}`, duration: lineDelay(line) })

  const waitForBlock = ({ attempt, chainId }: AttemptId) =>
    DurableClock.sleep({ name: `pending/${chainId}/${attempt}`, duration: timing.searchInterval })

  const attemptUntilDone = Effect.fnUntraced(function* ({
    chain,
    firstAttempt,
    operationId,
    plan
  }: ChainTrade): Effect.fn.Return<ChainOutcome, ReauthorizationRequired, InWorkflow> {
    const { chainId, legs, skips, transfers: planned = [] } = chain
    let last: ChainOutcome = { chainId, skips, swaps: [], receipt: null, failure: null }
    if (chain.measures !== undefined) last = { ...last, measures: chain.measures }
    let again: Ready | undefined
    const reverted: Array<ActionReceipt> = []
    for (let number = firstAttempt, tries = 0; legs.length + planned.length > 0 && tries < maxAttempts; number++) {
      const attempt: AttemptId = { operationId, chainId, attempt: number }
      const preparation = again ?? (yield* prepare(attempt, plan, reverted.length > 0))
      if (preparation._tag === "InLine") {
        if (preparation.isCancelled) return cancelledOutcome(chain, { skips, reverted })
        yield* waitInLine(attempt, preparation)
        continue
      }
      if (preparation._tag === "Pending") {
        yield* waitForBlock(attempt)
        continue
      }
      if (preparation._tag === "Landed") return unrecordedOutcome(chain, preparation, reverted)
      if (preparation._tag === "Nothing") return { ...last, skips: preparation.skips, failure: preparation.failure }
      if (preparation._tag === "Unsigned") {
        const { reason } = preparation
        if (yield* wait.record(attempt, preparation)) return yield* Effect.fail({ chain, reason, attempt: number })
        return { ...last, skips: [...preparation.skips, unsignedSkip(chain, reason)] }
      }
      const { measures, transfers = [] } = preparation
      const carried = yield* carrier.carry(attempt, preparation)
      if (Option.isNone(carried)) return cancelledOutcome(chain, { skips: preparation.skips, measures, reverted })
      const receipt = carried.value
      last = { chainId, receipt, ...effectOf(preparation, chain, receipt) }
      if (transfers.length > 0) last = { ...last, transfers }
      if (measures !== undefined) last = { ...last, measures }
      if (reverted.length > 0) last = { ...last, reverted: [...reverted] }
      if (receipt.success) return last
      reverted.push(receipt)
      // A bundle that another operation reverted is no attempt. The same operation goes again: anyone who has seen it
      // may still carry it.
      again = receipt.isBundleReverted === true ? alone(preparation) : undefined
      if (again === undefined) tries += 1
    }
    return last
  })

  return Effect.fnUntraced(function* (trade: ChainTrade) {
    const outcome = yield* attemptUntilDone(trade)
    const { chain, firstAttempt: attempt, operationId, plan } = trade
    if (outcome.receipt !== null && plan.chains.length > 1)
      yield* release({ operationId, chainId: chain.chainId, attempt })
    return outcome
  })
}

/** What the batch did: of steps those that landed, and the others as skips. */
export const effectOf = (
  { skips, swaps }: Pick<Ready, "skips" | "swaps">,
  { legs }: PlannedChain,
  { reason: revert, success, txHash, unmade = [] }: ActionReceipt
): Pick<ChainOutcome, "swaps" | "skips" | "failure"> => {
  const left = unmade.flatMap(({ isCancelled, reason, step }): ReadonlyArray<RecordedSkip> => {
    const swap = swaps[step]
    if (swap === undefined) return []
    const { buy, sell, sellAmountRaw } = swap
    const leg = legs.find((one) => one.buy === buy && one.sell === sell)
    const valueUsd = leg === undefined ? null : (leg.valueUsd * sellAmountRaw) / leg.sellAmountRaw
    const code = isCancelled ? SkipCode.cancelled : SkipCode.simulationFailed
    const amount = valueUsd === null ? "" : `; ${dollars(valueUsd)} are not traded`
    return [{ assetId: null, sell, buy, code, valueUsd, reason: `${reason}${amount}` }]
  })
  const reasons = [...new Set(unmade.map(({ reason }) => reason))].join("; ")
  const failure =
    unmade.length === 0
      ? `the swaps were reverted in ${txHash}${revert === undefined ? "" : `: ${revert}`}`
      : `no swap was made: ${reasons}`
  return {
    swaps: swaps.filter((_, index) => !unmade.some(({ step }) => step === index)),
    skips: [...skips, ...left],
    failure: success ? null : failure
  }
}

/** What a chain comes to that was cancelled before its batch was signed; what landed there before moved nothing. */
export const cancelledOutcome = (
  chain: PlannedChain,
  {
    measures,
    reverted = [],
    skips
  }: Pick<ChainOutcome, "skips" | "reverted"> & { readonly measures?: ChainOutcome["measures"] | undefined }
): ChainOutcome => ({
  chainId: chain.chainId,
  skips: [...skips, cancelledSkip(chain)],
  swaps: [],
  receipt: null,
  failure: null,
  ...(measures === undefined ? {} : { measures }),
  ...(reverted.length === 0 ? {} : { reverted: [...reverted] })
})

export const cancelledSkip = (chain: PlannedChain): RecordedSkip =>
  chainSkip(
    SkipCode.cancelled,
    `the operation was cancelled before this was signed; ${dollars(plannedUsd(chain))} were to be traded`
  )

/** The outcome of a chain on which unrecorded trades landed; the recorded attempts moved nothing. */
const unrecordedOutcome = (
  { chainId, measures, skips }: PlannedChain,
  { receipt, swaps }: Extract<Unrecorded, { readonly _tag: "Landed" }>,
  reverted: ReadonlyArray<ActionReceipt>
): ChainOutcome => ({
  chainId,
  skips,
  swaps,
  receipt,
  failure: null,
  ...(measures === undefined ? {} : { measures }),
  ...(reverted.length === 0 ? {} : { reverted })
})

/** The same, for a transaction of its own. */
const alone = (preparation: Ready): Ready => ({ ...preparation, prepared: preparation.prepared.alone })

/** Another run waits for the owner on the chain already, or this one has in vain. */
export const unsignedSkip = (chain: PlannedChain, reason: string): RecordedSkip =>
  chainSkip(SkipCode.signatureRequired, `${reason}; ${dollars(plannedUsd(chain))} are to be traded`)

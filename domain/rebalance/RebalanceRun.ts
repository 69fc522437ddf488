/**
 * What a rebalance run does: begin, plan, trade on all chains in parallel, wait for the owner where a new signature is
 * needed, finish.
 *
 * A run that dies of a fault of ours ends as `failed` with its cause in the log, so that the portfolio is free for the
 * next one; money is safe because nothing was sent that the chain's own rules do not bound.
 */
import { Array, Context, DateTime, Effect, Layer, Option, Result, Schema, Metric } from "effect"
import { ClusterSchema } from "effect/cluster"
import { Activity, DurableClock } from "effect/workflow"
import { closedRoutesAfter } from "#domain/rebalance/ClosedRoute.ts"
import { chainCompleted, completionOf } from "#domain/rebalance/ChainCompletion.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import type { InWorkflow } from "#domain/operation/InWorkflow.ts"
import { cancelledError } from "#domain/operation/CancelRequested.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { readingWaits } from "#domain/operation/waits.ts"
import { Repeatable } from "#domain/operation/Repeatable.ts"
import { PortfolioValuer } from "#domain/performance/PortfolioValuer.ts"
import type { PlannedChain } from "#domain/planning/PlannedChain.ts"
import { RunPlan } from "#domain/rebalance/RunPlan.ts"
import { RunPlanner } from "#domain/rebalance/plan/RunPlanner.ts"
import {
  type ChainOutcome,
  failureOf,
  isCancelled,
  isIncomplete,
  RunReport,
  slicesOf
} from "#domain/rebalance/RunReport.ts"
import { type RunContext, RunStore } from "#domain/rebalance/RunStore.ts"
import { cancelledOutcome, unsignedSkip } from "#domain/rebalance/chainOutcomes.ts"
import { makeTradeOnChain, type ReauthorizationRequired } from "#domain/rebalance/tradeOnChain.ts"
import { enter, lastStep } from "#domain/operation/runSteps.ts"
import { failOnDefect } from "#domain/operation/failOnDefect.ts"
import { SignatureRequests, type WaitEnd } from "#domain/rebalance/SignatureRequests.ts"
import { GasBudget } from "#domain/relay/GasBudget.ts"
import { RelayTiming } from "#domain/relay/RelayTiming.ts"
import { recordedTransactions } from "#domain/relay/recordedTransactions.ts"
import { receiptsOf, resultOfRun } from "#domain/rebalance/resultOfRun.ts"
import { Venue } from "#domain/trading/Venue.ts"
import * as Metrics from "#domain/effects/Metrics.ts"

const count = (metric: Metric.Counter<number>, attributes: Record<string, string>) =>
  Metric.update(Metric.withAttributes(metric, attributes), 1)

/** Counts what a finished run did. */
const recordRun = Effect.fnUntraced(function* (chains: ReadonlyArray<ChainOutcome>) {
  yield* count(Metrics.rebalanceRuns, { outcome: failureOf(chains) === null ? "completed" : "failed" })
  for (const { chainId, swaps, skips, receipt } of chains) {
    const chain = String(chainId)
    const outcome = receipt?.success === true ? "traded" : "reverted"
    for (const { tool } of swaps) {
      yield* count(Metrics.rebalanceLegs, { chain, outcome, by: tool === undefined ? "venue" : "route" })
    }
    for (const { code } of skips) yield* count(Metrics.rebalanceSkips, { chain, code })
  }
})

const encodeReport = Schema.encodeSync(Schema.toCodecJson(RunReport))

/**
 * The workflow of a rebalance.
 *
 * **When to use**
 *
 * Use as the body that the engine runs for operations of kind `rebalance`. Runs are accepted by `Rebalances`,
 * `Scheduler` and `MonitorTicks`.
 */
export class RebalanceRun extends Context.Service<
  RebalanceRun,
  {
    /** The body of the workflow. */
    readonly execute: (operationId: OperationId) => Effect.Effect<void, never, InWorkflow>
  }
>()("ballast/domain/rebalance/RebalanceRun") {
  static readonly layer = Layer.effect(
    RebalanceRun,
    Effect.gen(function* () {
      const services = {
        operations: yield* OperationStore,
        runs: yield* RunStore,
        planner: yield* RunPlanner,
        tradeOnChain: yield* makeTradeOnChain,
        owner: yield* SignatureRequests,
        valuer: yield* PortfolioValuer,
        gas: yield* GasBudget,
        venue: yield* Venue,
        timing: yield* RelayTiming
      }
      return RebalanceRun.of({ execute: (operationId) => makeExecute(services, operationId) })
    })
  )
}

interface Services {
  readonly operations: OperationStore["Service"]
  readonly runs: RunStore["Service"]
  readonly planner: RunPlanner["Service"]
  readonly tradeOnChain: Effect.Success<typeof makeTradeOnChain>
  readonly owner: SignatureRequests["Service"]
  readonly valuer: PortfolioValuer["Service"]
  readonly gas: GasBudget["Service"]
  readonly venue: Venue["Service"]
  readonly timing: typeof RelayTiming.Service
}

/** Readings of a chain whose nodes are behind, ten minutes long; after that the other chains are traded without it. */
const maxReadings = 40

/** What became of a chain, or what its owner must sign first. */
type Traded = Result.Result<ChainOutcome, ReauthorizationRequired>

const unsignedOutcome = ({ chain, reason }: ReauthorizationRequired): ChainOutcome => ({
  chainId: chain.chainId,
  swaps: [],
  skips: [...chain.skips, unsignedSkip(chain, reason)],
  receipt: null,
  failure: `the owner did not sign anew in time: ${reason}`
})

const afterWait = (unsigned: ReauthorizationRequired, { isCancelled, isOver }: WaitEnd): Traded => {
  if (isCancelled) return Result.succeed(cancelledOutcome(unsigned.chain, unsigned.chain))
  return isOver ? Result.succeed(unsignedOutcome(unsigned)) : Result.fail(unsigned)
}

/** Nothing to do: what it was to be traded on is not even read. */
const cancelledPlan = ({ strategyVersion }: RunContext, plannedAt: DateTime.Utc): RunPlan => ({
  strategyVersion,
  plannedAt,
  limits: { slippageBps: 0, priceImpactBps: 0 },
  chains: [],
  isCancelled: true
})

const requireContext = (runs: Services["runs"], operationId: OperationId) =>
  Effect.flatMap(
    runs.context(operationId),
    Option.match({
      onNone: () => Effect.die(new Error(`Operation ${operationId} has no portfolio to rebalance`)),
      onSome: (context: RunContext) => Effect.succeed(context)
    })
  )

const endedOnce = Context.make(Repeatable, () => true)

const hasWork = ({ legs, transfers = [] }: PlannedChain): boolean => legs.length + transfers.length > 0

/** Whether its end may change which ways are closed. */
const hasRoutes = ({ chains, hasClosedRoutes }: RunPlan): boolean =>
  hasClosedRoutes === true || chains.some(({ transfers = [] }) => transfers.length > 0)

const makeExecute = (services: Services, operationId: OperationId) => {
  const { gas, operations, owner, planner, runs, timing, tradeOnChain, valuer, venue } = services

  const transition = (to: "running" | "retrying") => enter(operations, operationId, to)

  /** The plan, or one that is not to be acted on yet: the run waits with it. */
  const planOnce = (reading: number) =>
    Activity.make({
      name: reading === 0 ? "plan" : `plan/${reading}`,
      success: RunPlan,
      execute: Effect.gen(function* () {
        if (reading === 0) yield* transition("running")
        const context = yield* requireContext(runs, operationId)
        if (context.isCancelRequested === true) return cancelledPlan(context, yield* DateTime.now)
        const planned = yield* planner.plan(context)
        const { behind: reason } = planned
        if (reason !== undefined && reading < maxReadings) yield* transition("retrying")
        else if (reading > 0) yield* transition("running")
        if (reason !== undefined && reading === 0)
          yield* operations.append({ operationId, at: yield* DateTime.now, kind: readingWaits, payload: { reason } })
        return planned
      })
    })

  const plan = Effect.gen(function* () {
    let planned = yield* planOnce(0)
    for (let reading = 1; planned.behind !== undefined && reading <= maxReadings; reading++) {
      yield* DurableClock.sleep({ name: `behind/${reading}`, duration: timing.searchInterval })
      planned = yield* planOnce(reading)
    }
    return planned
  })

  /** Records once that one of several chains is done. */
  const appendCompletion = (outcome: ChainOutcome, totalSteps: number) =>
    Activity.make({
      name: `settled/${outcome.chainId}`,
      execute: Effect.gen(function* () {
        yield* operations.append({
          operationId,
          at: yield* DateTime.now,
          kind: chainCompleted,
          payload: completionOf(outcome, totalSteps)
        })
      })
    }).annotate(ClusterSchema.WithTransaction, true)

  /** Records a chain that is done, unless it is the only one: then the end records the same a moment later. */
  const trade = Effect.fnUntraced(function* (planned: RunPlan, chain: PlannedChain, attempt: number) {
    const traded: Traded = yield* Effect.result(
      tradeOnChain({ operationId, plan: planned, chain, firstAttempt: attempt })
    )
    const totalSteps = planned.chains.filter(hasWork).length
    if (Result.isSuccess(traded) && totalSteps > 1 && hasWork(chain))
      yield* appendCompletion(traded.success, totalSteps)
    return traded
  })

  const resultOf = Effect.fnUntraced(function* (plan: RunPlan, outcomes: ReadonlyArray<ChainOutcome>) {
    const transactions = yield* Effect.forEach(outcomes, (outcome) =>
      recordedTransactions(gas, { chainId: outcome.chainId, contents: "user_operation", receipts: receiptsOf(outcome) })
    )
    const done = resultOfRun({ plan, outcomes, transactions, assumedFeeBps: venue.assumedFeeBps })
    return plan.isCancelled === true ? { ...done, outcome: "skipped" as const } : done
  })

  /**
   * A finished run stays as it is, so repeating this changes nothing. What it moved is valued once the run has ended;
   * before it was planned, it was valued with the plan.
   */
  const finish = (planned: RunPlan, chains: ReadonlyArray<ChainOutcome>) =>
    Activity.make({
      name: "finish",
      annotations: endedOnce,
      execute: Effect.gen(function* () {
        const { strategyVersion } = planned
        // Most runs have no transfers between chains: their end needs no reading.
        const closedRoutes = hasRoutes(planned)
          ? closedRoutesAfter((yield* requireContext(runs, operationId)).closedRoutes, planned, chains)
          : undefined
        const wasCancelled = planned.isCancelled === true || chains.some(isCancelled)
        // After a cancellation nothing more is traded before the next due time.
        const slices = wasCancelled ? undefined : slicesOf(planned, chains)
        const portfolioId = yield* runs.finish({
          operationId,
          strategyVersion,
          at: yield* DateTime.now,
          error: wasCancelled ? cancelledError : failureOf(chains),
          isCancelled: wasCancelled,
          isIncomplete: isIncomplete(chains),
          ...(slices === undefined ? {} : { slices }),
          ...(closedRoutes === undefined ? {} : { closedRoutes }),
          ...(planned.authorities === undefined ? {} : { authorities: planned.authorities }),
          report: encodeReport({ strategyVersion, chains }),
          ended: yield* resultOf(planned, chains)
        })
        yield* recordRun(chains)
        if (chains.some(({ receipt }) => receipt?.success === true)) yield* valuer.value(portfolioId)
      })
    })

  const abandon = Effect.gen(function* () {
    const error = "internal error; quote the operation id in a report"
    yield* operations.transition({ operationId, to: "failed", at: yield* DateTime.now, error })
  })

  /** Goes on where the owner has signed anew, and ends where that did not happen in time. */
  const afterSignatures = Effect.fnUntraced(function* (planned: RunPlan, traded: ReadonlyArray<Traded>) {
    let all = traded
    let until: DateTime.Utc | undefined
    for (let round = 1; ; round++) {
      const [outcomes, unsigned] = Array.separate(all)
      if (unsigned.length === 0) return outcomes
      const ids = unsigned.map(({ chain }) => chain.chainId)
      const end = yield* owner.wait(operationId, { round, chainIds: ids, until })
      until = end.until
      all = yield* Effect.forEach(
        all,
        (one) => {
          if (Result.isSuccess(one)) return Effect.succeed(one)
          const { attempt, chain } = one.failure
          if (end.awaited.has(chain.chainId)) return Effect.succeed(afterWait(one.failure, end))
          return trade(planned, chain, attempt + 1)
        },
        { concurrency: "unbounded" }
      )
    }
  })

  return Effect.gen(function* () {
    const planned = yield* plan
    const traded = yield* Effect.forEach(planned.chains, (chain) => trade(planned, chain, 1), {
      concurrency: "unbounded"
    })
    const chains = yield* afterSignatures(planned, traded)
    yield* finish(planned, chains)
  }).pipe(
    failOnDefect("A rebalance run failed by a fault of the service", lastStep("abandon", abandon)),
    Effect.annotateLogs({ operationId })
  )
}

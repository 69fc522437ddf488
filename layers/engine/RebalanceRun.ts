/**
 * What a rebalance run does: begin, plan, trade on every chain at once, finish.
 *
 * A run that dies of a fault of ours ends as `failed` with its cause in the log, so that the portfolio is free for the
 * next one; money is safe because nothing was sent that the chain's own rules do not bound.
 */
import { Cause, Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { ClusterSchema } from "effect/cluster"
import { Activity } from "effect/workflow"
import type { OperationId } from "#domain/Ids.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { RunPlan } from "#domain/rebalance/RunPlan.ts"
import { RunPlanner } from "#domain/rebalance/RunPlanner.ts"
import { type ChainOutcome, failureOf, RunReport } from "#domain/rebalance/RunReport.ts"
import { type RunContext, RunStore } from "#domain/rebalance/RunStore.ts"
import { ChainTrader } from "#layers/engine/ChainTrader.ts"
import { isPassing } from "#layers/engine/durable/stepResult.ts"
import { recordRun } from "#layers/engine/recordRun.ts"

const encodeReport = Schema.encodeSync(Schema.toCodecJson(RunReport))

export class RebalanceRun extends Context.Service<
  RebalanceRun,
  {
    /** The body of the workflow. */
    readonly execute: (operationId: OperationId) => ReturnType<typeof makeExecute>
  }
>()("ballast/layers/engine/RebalanceRun") {
  static readonly layer = Layer.effect(
    RebalanceRun,
    Effect.gen(function* () {
      const services = {
        operations: yield* OperationStore,
        runs: yield* RunStore,
        planner: yield* RunPlanner,
        trader: yield* ChainTrader
      }
      return RebalanceRun.of({ execute: (operationId) => makeExecute(services, operationId) })
    })
  )
}

interface Services {
  readonly operations: OperationStore["Service"]
  readonly runs: RunStore["Service"]
  readonly planner: RunPlanner["Service"]
  readonly trader: ChainTrader["Service"]
}

const requireContext = (runs: Services["runs"], operationId: OperationId) =>
  Effect.flatMap(
    runs.context(operationId),
    Option.match({
      onNone: () => Effect.die(new Error(`Operation ${operationId} has no portfolio to rebalance`)),
      onSome: (context: RunContext) => Effect.succeed(context)
    })
  )

const makeExecute = ({ operations, runs, planner, trader }: Services, operationId: OperationId) => {
  const plan = Activity.make({
    name: "plan",
    success: RunPlan,
    execute: Effect.gen(function* () {
      yield* operations.transition(operationId, "running", yield* DateTime.now, null)
      return yield* planner.plan(yield* requireContext(runs, operationId))
    })
  })

  /** A finished run stays as it is, so this needs no transaction with its own result: repeating it changes nothing. */
  const finish = (strategyVersion: number, chains: ReadonlyArray<ChainOutcome>) =>
    Activity.make({
      name: "finish",
      execute: Effect.gen(function* () {
        yield* runs.finish({
          operationId,
          strategyVersion,
          at: yield* DateTime.now,
          error: failureOf(chains),
          report: encodeReport({ strategyVersion, chains })
        })
        yield* recordRun(chains)
      })
    })

  const abandon = (cause: Cause.Cause<never>) =>
    Activity.make({
      name: "abandon",
      execute: Effect.gen(function* () {
        yield* Effect.logError("A rebalance run failed by a fault of the service", cause)
        yield* operations.transition(
          operationId,
          "failed",
          yield* DateTime.now,
          "internal error; quote the operation id in a report"
        )
      })
    }).annotate(ClusterSchema.WithTransaction, true)

  return Effect.gen(function* () {
    const planned = yield* plan
    const chains = yield* Effect.forEach(planned.chains, (chain) => trader.trade(operationId, planned, chain), {
      concurrency: "unbounded"
    })
    yield* finish(planned.strategyVersion, chains)
  }).pipe(
    Effect.catchCause((cause) =>
      Cause.hasInterrupts(cause) || isPassing(cause) ? Effect.failCause(cause) : abandon(cause)
    ),
    Effect.annotateLogs({ operationId })
  )
}

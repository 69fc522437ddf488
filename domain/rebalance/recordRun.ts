/** Counts what a finished run did. */
import { Effect, Metric } from "effect"
import * as Metrics from "#domain/Metrics.ts"
import { type ChainOutcome, failureOf } from "#domain/rebalance/RunReport.ts"

const count = (metric: Metric.Counter<number>, attributes: Record<string, string>) =>
  Metric.update(Metric.withAttributes(metric, attributes), 1)

export const recordRun = Effect.fnUntraced(function* (chains: ReadonlyArray<ChainOutcome>) {
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

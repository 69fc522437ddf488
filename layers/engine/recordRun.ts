/** Counts what a finished run did. */
import { Effect, Metric } from "effect"
import * as Metrics from "#domain/Metrics.ts"
import { type ChainOutcome, failureOf } from "#domain/rebalance/RunReport.ts"

const count = (metric: Metric.Counter<number>, attributes: Record<string, string>, by = 1) =>
  Metric.update(Metric.withAttributes(metric, attributes), by)

export const recordRun = Effect.fnUntraced(function* (chains: ReadonlyArray<ChainOutcome>) {
  yield* count(Metrics.rebalanceRuns, { outcome: failureOf(chains) === null ? "completed" : "failed" })
  for (const { chainId, swaps, skips, receipt } of chains) {
    const chain = String(chainId)
    if (swaps.length > 0)
      yield* count(
        Metrics.rebalanceLegs,
        { chain, outcome: receipt?.success === true ? "traded" : "reverted" },
        swaps.length
      )
    for (const { code } of skips) yield* count(Metrics.rebalanceSkips, { chain, code })
  }
})

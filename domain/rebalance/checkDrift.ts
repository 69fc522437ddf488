/**
 * Finds which of a batch of due portfolios are on target, by the same reading and the same planner as a run.
 *
 * A portfolio that could not be read in full is not on target, and so gets a run.
 */
import { Cause, Duration, Effect } from "effect"
import type { PortfolioId } from "#domain/values/Ids.ts"
import { type Conclusion, type Due, DueStore } from "#domain/rebalance/DueStore.ts"
import { isOnTarget } from "#domain/planning/isOnTarget.ts"
import { plan } from "#domain/planning/planRebalance.ts"
import { PlanReader } from "#domain/rebalance/plan/PlanReader.ts"

/** A chain that has not answered by then is not waited for: portfolios with accounts on it get runs. */
const timeout = Duration.seconds(3)
/** No check takes longer, whatever it waits for. */
const longest = Duration.seconds(5)

/** One conclusion for each. Never fails: a check that did not succeed finds no portfolio on target. */
export const makeCheckDrift = Effect.gen(function* () {
  const store = yield* DueStore
  const reader = yield* PlanReader

  /** The revisions of those on target. */
  const readRevisions = Effect.fnUntraced(function* (due: ReadonlyArray<Due>) {
    const candidates = yield* store.candidates(due.map(({ portfolioId }) => portfolioId))
    const revisions = new Map<PortfolioId, string>()
    if (candidates.length === 0) return revisions
    const readings = yield* reader.read(
      candidates.map(({ context }) => context),
      { timeout }
    )
    for (const [index, { context, revision }] of candidates.entries()) {
      const { input } = readings[index]!
      if (isOnTarget(input, plan(input))) revisions.set(context.portfolioId, revision)
      // A plan takes up to milliseconds, and the process has others to serve.
      yield* Effect.yieldNow
    }
    return revisions
  })

  return Effect.fn("checkDrift")(function* (due: ReadonlyArray<Due>): Effect.fn.Return<ReadonlyArray<Conclusion>> {
    const revisions = yield* readRevisions(due).pipe(
      Effect.timeout(longest),
      Effect.catchCause((cause) =>
        Cause.hasInterrupts(cause)
          ? Effect.interrupt
          : Effect.as(
              Effect.logWarning("The drift of due portfolios could not be checked; each gets a run", cause),
              new Map<PortfolioId, string>()
            )
      )
    )
    return due.map((one) => ({ ...one, onTargetAt: revisions.get(one.portfolioId) ?? null }))
  })
})

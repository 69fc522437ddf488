/**
 * Routes between chains on which value was planned to be sent and was not sent, although a route had been quoted: the
 * bridge's contract refuses, or the provider quotes routes that it then does not give. A receiver is planned with what
 * it is sent, so without a memory of such ways it would wait in every run for what never comes.
 */
import { Schema } from "effect"
import { ChainId, chainIdOf } from "#domain/values/Caip.ts"
import type { ChainPair } from "#domain/planning/Plan.ts"
import type { RunPlan } from "#domain/rebalance/RunPlan.ts"
import type { ChainOutcome } from "#domain/rebalance/RunReport.ts"
import { SkipCode } from "#domain/values/Skip.ts"

/** A way that is closed for the next runs, or on which sending is tried again after failures. */
export const ClosedRoute = Schema.Struct({
  from: ChainId,
  to: ChainId,
  /** Runs in a row that planned to send on the way and did not; 1 or more. */
  failures: Schema.Int,
  /** Runs that still plan without the way; 0 when the next one tries it again. */
  runsLeft: Schema.Int
})
export type ClosedRoute = typeof ClosedRoute.Type

/** A way stays closed for 1, 2, 4, ... runs after each failure in a row, and never for more than these. */
const maxRunsClosed = 32

const isSame = (one: ChainPair, other: ChainPair): boolean => one.from === other.from && one.to === other.to

/** The ways that plans leave out now. */
export const closedFor = (routes: ReadonlyArray<ClosedRoute>): ReadonlyArray<ChainPair> =>
  routes.filter(({ runsLeft }) => runsLeft > 0).map(({ from, to }) => ({ from, to }))

const runsClosed = (failures: number): number => Math.min(2 ** Math.min(failures - 1, 30), maxRunsClosed)

/** The chain was not reached when the batch was made: whether the way is open is not known. */
const isUnreached = ({ skips }: ChainOutcome): boolean => skips.some(({ code }) => code === SkipCode.chainUnavailable)

/** The ways as they are after a run: what it planned to send, and what of that left. */
export const closedRoutesAfter = (
  routes: ReadonlyArray<ClosedRoute>,
  { chains: planned }: Pick<RunPlan, "chains">,
  outcomes: ReadonlyArray<ChainOutcome>
): ReadonlyArray<ClosedRoute> => {
  const tried = planned.flatMap(({ chainId: from, transfers = [] }) => {
    const outcome = outcomes.find(({ chainId }) => chainId === from)
    if (outcome === undefined || isUnreached(outcome)) return []
    const sent = outcome.receipt?.success === true ? (outcome.transfers ?? []) : []
    return transfers.map(({ buy }) => ({
      from,
      to: chainIdOf(buy),
      hasLeft: sent.some((transfer) => transfer.buy === buy)
    }))
  })
  const kept = routes
    .filter((route) => !tried.some((pair) => isSame(pair, route)))
    .map((route) => ({ ...route, runsLeft: Math.max(route.runsLeft - 1, 0) }))
  const failed = tried
    .filter(({ hasLeft }) => !hasLeft)
    .map(({ from, to }): ClosedRoute => {
      const failures = (routes.find((route) => isSame(route, { from, to }))?.failures ?? 0) + 1
      return { from, to, failures, runsLeft: runsClosed(failures) }
    })
  return [...kept, ...failed]
}

/** Port: portfolios whose schedules are due, from the claim to the next due time. */
import { Context, type DateTime, type Effect } from "effect"
import type { CheckId, OperationId, PortfolioId } from "#domain/values/Ids.ts"
import type { PlanContext } from "#domain/rebalance/RunStore.ts"
import type { Frequency } from "#domain/mandate/RebalanceSchedule.ts"

/** An active schedule as it was when its due time had come. */
export interface Due {
  readonly portfolioId: PortfolioId
  readonly dueAt: DateTime.Utc
  /** Its strategy's cadence, which gives the next due time. */
  readonly frequency: Frequency
}

/** Due portfolios that one process checks. */
export interface ClaimedDue {
  readonly checkId: CheckId
  readonly due: ReadonlyArray<Due>
}

/** A due portfolio of which balances and prices alone decide whether there is anything to do. */
export interface Candidate {
  readonly context: PlanContext
  /** Another one once anything changed of the portfolio, its strategy or its tenant that a plan follows from. */
  readonly revision: string
}

/** What the drift check of a due portfolio led to. */
export interface Conclusion extends Due {
  /** The revision of the candidate that was found on target; null when the portfolio gets a run. */
  readonly onTargetAt: string | null
}

export interface Concluded {
  /** Accepted operations, to be launched. */
  readonly operationIds: ReadonlyArray<OperationId>
  /** How many were on target and have their next due time. */
  readonly onTarget: number
  /** How many stay due, because they changed since they were read or another process claimed them. */
  readonly left: number
}

/**
 * Portfolios whose schedules are due.
 *
 * **When to use**
 *
 * Use in `Scheduler` and `checkDrift` alone.
 */
export class DueStore extends Context.Service<
  DueStore,
  {
    /**
     * Up to `limit` due portfolios, the longest overdue first and tenants in turn while there are more. Until `until`,
     * or until they are completed, other processes get different ones, unless they claim at the same moment. All stay
     * due, so nothing is lost with a process that claimed them.
     */
    readonly claim: (now: DateTime.Utc, until: DateTime.Utc, limit: number) => Effect.Effect<ClaimedDue>
    /**
     * Leaves out portfolios that get a run whatever their balances: one not checked since it was enrolled or started,
     * one that has not followed the head version yet, one with an unfinished run or with value about to leave.
     */
    readonly candidates: (portfolioIds: ReadonlyArray<PortfolioId>) => Effect.Effect<ReadonlyArray<Candidate>>
    /**
     * Each portfolio that is still due as it was claimed gets its next due time and, unless it is on target or has an
     * unfinished run, an accepted operation in the same transaction. The claim ends.
     */
    readonly complete: (
      now: DateTime.Utc,
      checkId: CheckId,
      conclusions: ReadonlyArray<Conclusion>
    ) => Effect.Effect<Concluded>
    /** Moves the due times of one batch to a cadence that changed; true when there may be more to move. */
    readonly moveToCadence: (now: DateTime.Utc) => Effect.Effect<boolean>
  }
>()("ballast/domain/rebalance/DueStore") {}

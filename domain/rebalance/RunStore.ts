/** Port: what a rebalance run reads and records. */
import { Context, type Effect, type Option } from "effect"
import type { AssetId, ChainId } from "#domain/values/Caip.ts"
import type { ForeignAuthority } from "#domain/values/ForeignAuthority.ts"
import type { Grant } from "#domain/account/Grant.ts"
import type { OperationId, PortfolioId, TenantId } from "#domain/values/Ids.ts"
import type { Frequency } from "#domain/mandate/RebalanceSchedule.ts"
import type { Allocation } from "#domain/mandate/Allocation.ts"
import type { ClosedRoute } from "#domain/rebalance/ClosedRoute.ts"
import type { OperationEnd } from "#domain/operation/OperationResult.ts"
import type { Slices } from "#domain/rebalance/retryDelay.ts"
import type { RebalancePolicy } from "#domain/mandate/RebalancePolicy.ts"
import type { SwapPreferences } from "#domain/mandate/SwapPreferences.ts"

/** A portfolio and its target, as a plan needs them. */
export interface PlanContext {
  /** Left out where nothing is carried out: a preview. */
  readonly operationId?: OperationId
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
  /** The strategy's head version. */
  readonly strategyVersion: number
  readonly allocation: Allocation
  /** The strategy's preferences, and the defaults of the portfolio's tenant. */
  readonly swap: SwapPreferences
  readonly tenantSwap: SwapPreferences
  /** What the tenant accepted of a strategy that another one created; left out when the strategy is its own. */
  readonly acceptedSwap?: SwapPreferences
  /** The policies of the strategy and of the portfolio's tenant; absent where none is set. */
  readonly rebalancePolicy?: RebalancePolicy
  readonly tenantPolicy?: RebalancePolicy
  /** The portfolio's cadence, over which a policy weighs the cost of drift; absent without a policy. */
  readonly frequency?: Frequency
  /** Oldest first. */
  readonly grants: ReadonlyArray<Grant>
  /** Promised to withdrawals, or sold by swaps, that are accepted and not finished: not to be traded. */
  readonly reserved: ReadonlyArray<{ readonly assetId: AssetId; readonly raw: bigint }>
  /** Chains on which the agent can do nothing until the owner has signed anew. */
  readonly awaited: ReadonlyArray<ChainId>
  /** Routes between chains on which earlier runs could not send. */
  readonly closedRoutes: ReadonlyArray<ClosedRoute>
}

/** The portfolio and the target as they are when the run begins. */
export interface RunContext extends PlanContext {
  readonly operationId: OperationId
  /** It was cancelled; left out when it was not. */
  readonly isCancelRequested?: boolean
}

/** How a run ended. `report` is the plan with what became of each leg and each skip, as stored JSON. */
export interface RunEnd extends OperationEnd {
  readonly strategyVersion: number
  /** A part was not read, quoted or sent: the portfolio is due again soon (`retryDelay.ts`). False when left out. */
  readonly isIncomplete?: boolean
  /** Nothing else is missing than what a market takes in slices (`retryDelay.ts`); left out where that is not so. */
  readonly slices?: Slices
  /** The routes between chains as the run leaves them; as they were when left out. */
  readonly closedRoutes?: ReadonlyArray<ClosedRoute>
  /** Who else may move assets of the portfolio's accounts; as it was known when left out. */
  readonly authorities?: ReadonlyArray<ForeignAuthority>
  readonly report: unknown
}

/**
 * What a rebalance run reads and leaves.
 *
 * **When to use**
 *
 * Use in `RebalanceRun` and in the steps of it.
 */
export class RunStore extends Context.Service<
  RunStore,
  {
    /** None when the operation is unknown. */
    readonly context: (operationId: OperationId) => Effect.Effect<Option.Option<RunContext>>
    /**
     * Writes report, terminal state, `strategyVersion` and `lastRebalanceAt` together, and answers the portfolio. A
     * finished run stays as it is.
     */
    readonly finish: (end: RunEnd) => Effect.Effect<PortfolioId>
    /** The stored report of a finished run. */
    readonly report: (operationId: OperationId) => Effect.Effect<Option.Option<unknown>>
  }
>()("ballast/domain/rebalance/RunStore") {}

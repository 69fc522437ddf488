/** Port: what a rebalance run needs to know and leaves behind. */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { Authorization } from "#domain/enrollment/Authorization.ts"
import type { OperationId, PortfolioId, TenantId } from "#domain/Ids.ts"
import type { BatchReceipt, PreparedBatch, SignedTransaction } from "#domain/rebalance/ChainExecution.ts"
import type { EvmAddress } from "#domain/Caip.ts"
import type { Allocation, SwapPreferences } from "#domain/strategy/Strategy.ts"

/** The portfolio and the target as they are when the run begins. */
export interface RunContext {
  readonly operationId: OperationId
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
  /** The strategy's head version. */
  readonly strategyVersion: number
  readonly allocation: Allocation
  readonly swap: SwapPreferences
  readonly authorization: Authorization
  readonly ownerSignature: string
}

/** Names one attempt at one chain's part of a run. */
export interface AttemptId {
  readonly operationId: OperationId
  readonly chainId: number
  readonly attempt: number
}

/** How a run ended. `report` is the plan with what became of each leg and each skip, as stored JSON. */
export interface RunEnd {
  readonly operationId: OperationId
  readonly strategyVersion: number
  readonly at: DateTime.Utc
  /** Null when the run completed; otherwise why it failed. */
  readonly error: string | null
  readonly report: unknown
}

export class RunStore extends Context.Service<
  RunStore,
  {
    /** None when the operation is unknown. */
    readonly context: (operationId: OperationId) => Effect.Effect<Option.Option<RunContext>>
    /**
     * Reserves the relayer's next nonce, signs with it and stores the bytes, in the caller's transaction. An attempt
     * that was signed before gets the stored transaction again.
     */
    readonly reserve: (
      attempt: AttemptId,
      prepared: PreparedBatch,
      relayer: EvmAddress,
      at: DateTime.Utc,
      sign: (nonce: number) => Effect.Effect<SignedTransaction>
    ) => Effect.Effect<SignedTransaction>
    readonly recordReceipt: (attempt: AttemptId, receipt: BatchReceipt, at: DateTime.Utc) => Effect.Effect<void>
    /** Writes report, terminal state, `strategyVersion` and `lastRebalanceAt` together. A finished run stays as it is. */
    readonly finish: (end: RunEnd) => Effect.Effect<void>
    /** The stored report of a finished run. */
    readonly report: (operationId: OperationId) => Effect.Effect<Option.Option<unknown>>
  }
>()("ballast/domain/rebalance/RunStore") {}

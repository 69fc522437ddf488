/** Port: actions requested by owners, each once by the id that its client gave it. */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"
import type { Grant } from "#domain/account/Grant.ts"
import type { OwnedPortfolio } from "#domain/account/OwnedPortfolio.ts"
import type { OperationId, PortfolioId, TenantId } from "#domain/values/Ids.ts"
import type { OperationEnd } from "#domain/operation/OperationResult.ts"
import type { SwapSources } from "#domain/strategy/resolveSwap.ts"
import type { OrderTerms, OrderOutcome } from "#domain/order/OrderTerms.ts"

/** The portfolio on which an owner acts. */
export interface OrderSource extends OwnedPortfolio {
  /** A portfolio without an account is none to act on. */
  readonly grants: readonly [Grant, ...ReadonlyArray<Grant>]
  readonly swap: SwapSources
  /** The owner ended the agent's permission and has not signed anew. */
  readonly isRevoked: boolean
}

/** What a submission is answered, the first time and at each replay. */
export interface AcceptedOrder {
  readonly operationId: OperationId
  readonly submittedAt: DateTime.Utc
  readonly correlationId: string
}

export interface NewOrder extends AcceptedOrder {
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
  /** The client's; null: nothing ties a repeat to it. */
  readonly requestId: string | null
  /** SHA-256 of the canonical request. */
  readonly requestHash: Uint8Array
  readonly order: OrderTerms
}

export type OrderSubmission =
  | { readonly _tag: "Accepted"; readonly accepted: AcceptedOrder }
  /** The action that an earlier request of this id and body began. */
  | { readonly _tag: "Replayed"; readonly accepted: AcceptedOrder }
  /** Another request was accepted under the id. */
  | { readonly _tag: "Mismatch" }

export interface StoredOrder extends OrderSource, AcceptedOrder {
  readonly order: OrderTerms
  /** Amounts promised to withdrawals that are accepted and not finished, of what is sold. */
  readonly promised: ReadonlyArray<{ readonly assetId: AssetId; readonly raw: bigint }>
}

/** How an action ended. */
export interface OrderEnd extends OperationEnd {
  /** Null when nothing moved. */
  readonly outcome: OrderOutcome | null
}

/**
 * Where actions are kept.
 *
 * **When to use**
 *
 * Use in services of this context alone. Callers use `Orders`, `DirectExecutions` or `Executions`.
 *
 * **Details**
 *
 * `submit` is idempotent on the request id within the portfolio, also between processes.
 */
export class OrderStore extends Context.Service<
  OrderStore,
  {
    /** A live portfolio, whosever tenant's it is. */
    readonly source: (portfolioId: PortfolioId) => Effect.Effect<Option.Option<OrderSource>>
    /** What was accepted of the portfolio under the id. */
    readonly replay: (
      portfolioId: PortfolioId,
      requestId: string,
      requestHash: Uint8Array
    ) => Effect.Effect<Option.Option<OrderSubmission>>
    /** The accepted operation and the action in one transaction; of those with one id, one. */
    readonly submit: (action: NewOrder) => Effect.Effect<OrderSubmission>
    readonly find: (operationId: OperationId) => Effect.Effect<Option.Option<StoredOrder>>
    /** Null while it has not ended, and when nothing moved. */
    readonly outcome: (operationId: OperationId) => Effect.Effect<OrderOutcome | null>
    /** Terminal state, outcome and the portfolio's `updatedAt` together. A finished action stays as it is. */
    readonly finish: (end: OrderEnd) => Effect.Effect<void>
  }
>()("ballast/domain/order/OrderStore") {}

/** Something that the service does from beginning to end, which a crash anywhere in between must not change. */
import type { Effect } from "effect"
import type { AccountId } from "#domain/values/Caip.ts"
import type { OperationId, PortfolioId, TenantId } from "#domain/values/Ids.ts"
import type { OperationKind } from "#domain/operation/Operation.ts"

/** A portfolio of its own for each case, and its operation that is accepted and about to be launched. */
export interface Begun {
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
  readonly operationId: OperationId
  readonly kind: OperationKind
  readonly accounts: ReadonlyArray<AccountId>
}

export interface Scenario<R> {
  readonly begin: Effect.Effect<Begun, never, R>
  /** How many operations of the portfolio have ended when everything has. */
  readonly operations: number
}

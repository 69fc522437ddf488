/** A portfolio with its state: what is under way, what was done last, and what needs a person to act. */
import type { DateTime } from "effect"
import type { OperationId } from "#domain/values/Ids.ts"
import type { OperationOutcome } from "#domain/operation/OperationResult.ts"
import type { OperationKind, OperationState } from "#domain/operation/Operation.ts"
import type { Attention, AttentionFacts } from "#domain/portfolio/Attention.ts"
import type { Portfolio } from "#domain/portfolio/Portfolio.ts"

/** The latest operation that ended, of whatever kind. */
export interface LastOperation {
  readonly operationId: OperationId
  readonly kind: OperationKind
  readonly state: OperationState
  readonly outcome: OperationOutcome | null
  readonly reason: string | null
  readonly finishedAt: DateTime.Utc
}

/** A portfolio as it is stored. */
export interface StoredPortfolio extends Portfolio {
  /** The operation that is not finished; of several one that is at work rather than one that waits for its owner. */
  readonly activeOperationId: OperationId | null
  readonly lastOperation: LastOperation | null
  readonly facts: AttentionFacts
}

export interface PortfolioDetail extends Omit<StoredPortfolio, "facts"> {
  /** Empty: nothing needs a person to act. */
  readonly attention: ReadonlyArray<Attention>
}

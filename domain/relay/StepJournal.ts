/** Port: transactions of steps, written down before they are sent. The bytes are their adapter's own. */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { CancelRequested } from "#domain/operation/CancelRequested.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import type { PreparedSteps } from "#domain/relay/Transaction.ts"

/** One step of an attempt. */
export interface StepId {
  readonly attempt: AttemptId
  /** Its place among the attempt's steps, from 0 on. */
  readonly step: number
}

/** What was signed last for a step. */
export interface RecordedStep {
  /** How many transactions were signed for the step, this one included. */
  readonly number: number
  readonly payload: string
}

/**
 * Transactions of steps, written down before they are sent.
 *
 * **When to use**
 *
 * Use on chains where an action is several transactions. An action of one transaction is kept by `RelayStore`.
 */
export class StepJournal extends Context.Service<
  StepJournal,
  {
    readonly latest: (id: StepId) => Effect.Effect<Option.Option<RecordedStep>>
    /**
     * Committed when it returns. The first of an attempt puts the attempt among those that are under way, until
     * `RelayStore.recordReceipt`. Fails when the operation is to be cancelled, unless something was signed for the step
     * before, or the transaction has landed already: that is gone on with. Dies when the operation has ended or the
     * number is in use. Not for use inside a transaction.
     */
    readonly record: (
      id: StepId,
      prepared: Pick<PreparedSteps, "accountId" | "actionHash" | "slot">,
      recorded: RecordedStep & {
        readonly txHash: string
        readonly at: DateTime.Utc
        /** It was found on the chain: the record of its signature is lost. */
        readonly isLanded?: boolean
      }
    ) => Effect.Effect<void, CancelRequested>
  }
>()("ballast/domain/relay/StepJournal") {}

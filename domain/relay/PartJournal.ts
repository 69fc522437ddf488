/** Port: transactions of parts, written down before they are sent. The bytes are their adapter's own. */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { CancelRequested } from "#domain/operation/CancelRequested.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import type { PreparedParts } from "#domain/relay/Transaction.ts"

/** One part of an attempt. */
export interface PartId {
  readonly attempt: AttemptId
  /** Its position among the attempt's parts, from 0 on. */
  readonly part: number
}

/** What was signed last for a part. */
export interface RecordedPart {
  /** How many transactions were signed for the part, this one included. */
  readonly number: number
  readonly payload: string
}

/**
 * Transactions of parts, written down before they are sent.
 *
 * **When to use**
 *
 * Use on chains where an action is several transactions. An action of one transaction is kept by `RelayStore`.
 */
export class PartJournal extends Context.Service<
  PartJournal,
  {
    readonly latest: (id: PartId) => Effect.Effect<Option.Option<RecordedPart>>
    /**
     * Committed when it returns. The first of an attempt puts the attempt among those that are under way, until
     * `RelayStore.recordReceipt`. Fails when the operation is to be cancelled, unless something was signed for the part
     * before, or the transaction has landed already: that is gone on with. Dies when the operation has ended or the
     * number is in use. Not for use inside a transaction.
     */
    readonly record: (
      id: PartId,
      prepared: Pick<PreparedParts, "accountId" | "actionHash" | "slot">,
      recorded: RecordedPart & {
        readonly txHash: string
        readonly at: DateTime.Utc
        /** It was found on the chain: the record of its signature is lost. */
        readonly isLanded?: boolean
      }
    ) => Effect.Effect<void, CancelRequested>
  }
>()("ballast/domain/relay/PartJournal") {}

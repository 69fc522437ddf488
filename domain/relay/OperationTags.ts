/**
 * Port: whether the chain shows that an operation of the service was carried out there. What includes it names it, by
 * its tag, so that it is found although the service has lost every record of what it sent. Orders of owners and
 * rebalances have tags; a withdrawal has the owner's nonce (`WithdrawalTransactions.standing`).
 */
import { Context, type DateTime, Duration, type Effect } from "effect"
import type { AccountId, ChainId } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import type { ActionReceipt, ToSign } from "#domain/relay/Transaction.ts"

export interface SoughtOperation {
  readonly chainId: ChainId
  readonly accountId: AccountId
  readonly operationId: OperationId
  /** Nothing that is older includes it. */
  readonly since: DateTime.Utc
  /** A node that has not reached this block cannot show that there is none, where later ones may include it. */
  readonly fromBlock: bigint
  /** What is to be signed next, where something is: on some chains it says how much the account has done before. */
  readonly toSign?: ToSign | undefined
}

export type TaggedOperation =
  | { readonly _tag: "Absent" }
  /** It was carried out in a block that does not count yet, or may still be by what was sent before. */
  | { readonly _tag: "Pending" }
  | { readonly _tag: "Included"; readonly receipt: ActionReceipt }

/**
 * What is younger is not sought on chain: the records that a failover loses are older than the time in which another
 * server takes over.
 */
export const minAgeOfLoss = Duration.seconds(5)

/**
 * Whether the chain shows an operation of the service.
 *
 * **When to use**
 *
 * Use before something is signed whose records may be lost. Receipts of what is recorded are `ActionReceipts`.
 */
export class OperationTags extends Context.Service<
  OperationTags,
  {
    /**
     * Finds the operation as every endpoint of the chain shows it; on EVM chains among the account's operations of the
     * last 40,000 blocks. What was reverted does not count. Of several parts those count that took effect, and the
     * operation is carried out when one did. Fails when no endpoint answers, when they contradict each other, and where
     * the account has done what an endpoint does not show.
     */
    readonly find: (sought: SoughtOperation) => Effect.Effect<TaggedOperation, ChainUnavailable>
  }
>()("ballast/domain/relay/OperationTags") {}

/**
 * Port: the queue of operations that act for a portfolio's account on a chain. An account has one nonce for the agent
 * and one set of balances, so what is built for it while another operation is under way is built on what is about to
 * change: its transaction reverts, or it sells what is sold already.
 */
import { Context, type Effect } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import type { OperationId } from "#domain/values/Ids.ts"

/** Who asks for an account, and on which chain. */
export interface AccountTurn {
  /** Its portfolio has the account. */
  readonly operationId: OperationId
  readonly chainId: ChainId
  /** Goes before all that wait, as what the owner signed does; what is under way is not interrupted. */
  readonly isUrgent?: boolean
}

/** Whether the account is the operation's, and else where it stands. */
export interface QueuePosition {
  /** `joined`: the account is another operation's, and this one has begun to wait; `waiting`: it waited before. */
  readonly state: "acquired" | "joined" | "waiting"
  /** How many waiting operations go before this one. */
  readonly ahead: number
}

/**
 * The queue of operations that act for an account on a chain.
 *
 * **When to use**
 *
 * Use by `inAccountTurn`, around what prepares an operation of the agent. What the owner's signature alone moves, as a
 * plain withdrawal or a revocation, has nonces of its own and waits for nobody.
 *
 * **Details**
 *
 * An operation has the account until it releases it, or has ended. Waiting operations follow in the order in which
 * they were submitted. All answers are committed, so an operation goes on with its turn after a crash, in any process.
 */
export class AccountQueue extends Context.Service<
  AccountQueue,
  {
    /** Repeated, it answers the same until something changes. Not for use inside a transaction. */
    readonly acquire: (request: AccountTurn) => Effect.Effect<QueuePosition>
    /** Changes nothing where the account is another operation's. */
    readonly release: (request: Pick<AccountTurn, "operationId" | "chainId">) => Effect.Effect<void>
  }
>()("ballast/domain/operation/AccountQueue") {}

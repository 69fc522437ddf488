/** Port: transactions that put a portfolio's sub-account on Solana, written down before they are sent. */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { RecordedSubAccount, SignedSubAccount } from "#domain/account/SolanaWallets.ts"
import type { FlowId } from "#domain/values/Ids.ts"

/** One transaction of a flow: signed, or written down already. */
export interface SubAccountAttempt<SubAccount extends SignedSubAccount | RecordedSubAccount> {
  /** Number from 1 on; the next one is signed only when no earlier one can land any more. */
  readonly number: number
  /** What the owner signed: two requests with the same are about the same transaction. */
  readonly ownerSignature: string
  readonly subAccount: SubAccount
}

/**
 * Transactions that put sub-accounts on Solana, written down before they are sent.
 *
 * **When to use**
 *
 * Use in `makeSubAccount` alone, between `SolanaWallets.sign` and `SolanaWallets.land`, so that a crash sends nothing
 * twice.
 */
export class SubAccountJournal extends Context.Service<
  SubAccountJournal,
  {
    readonly latest: (flowId: FlowId) => Effect.Effect<Option.Option<SubAccountAttempt<RecordedSubAccount>>>
    /** Committed when it returns. None when another call wrote down this number first: then nothing may be sent. */
    readonly record: (
      flowId: FlowId,
      attempt: SubAccountAttempt<SignedSubAccount>,
      at: DateTime.Utc
    ) => Effect.Effect<Option.Option<RecordedSubAccount>>
  }
>()("ballast/domain/enrollment/SubAccountJournal") {}

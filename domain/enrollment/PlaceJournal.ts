/** Port: transactions that put a portfolio's place on Solana, written down before they are sent. */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { SignedPlace } from "#domain/account/SolanaWallets.ts"
import type { FlowId } from "#domain/Ids.ts"

/** One transaction of a flow. */
export interface PlaceAttempt {
  /** From 1 on; another one is signed only when none before it can land any more. */
  readonly number: number
  /** What the owner signed: two requests with the same are about the same transaction. */
  readonly ownerSignature: string
  readonly signed: SignedPlace
}

/**
 * Transactions that put places on Solana, written down before they are sent.
 *
 * **When to use**
 *
 * Use between `SolanaWallets.sign` and `SolanaWallets.land`, so that a crash sends nothing twice.
 */
export class PlaceJournal extends Context.Service<
  PlaceJournal,
  {
    readonly latest: (flowId: FlowId) => Effect.Effect<Option.Option<PlaceAttempt>>
    /** Committed when it returns. False when another call wrote down this number first: then nothing may be sent. */
    readonly record: (flowId: FlowId, attempt: PlaceAttempt, at: DateTime.Utc) => Effect.Effect<boolean>
  }
>()("ballast/domain/enrollment/PlaceJournal") {}

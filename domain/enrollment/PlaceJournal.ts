/** Port: transactions that put a portfolio's place on Solana, written down before they are sent. */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { RecordedPlace, SignedPlace } from "#domain/account/SolanaWallets.ts"
import type { FlowId } from "#domain/values/Ids.ts"

/** One transaction of a flow: signed, or written down already. */
export interface PlaceAttempt<Place extends SignedPlace | RecordedPlace> {
  /** Number from 1 on; the next one is signed only when no earlier one can land any more. */
  readonly number: number
  /** What the owner signed: two requests with the same are about the same transaction. */
  readonly ownerSignature: string
  readonly place: Place
}

/**
 * Transactions that put places on Solana, written down before they are sent.
 *
 * **When to use**
 *
 * Use in `makePlace` alone, between `SolanaWallets.sign` and `SolanaWallets.land`, so that a crash sends nothing twice.
 */
export class PlaceJournal extends Context.Service<
  PlaceJournal,
  {
    readonly latest: (flowId: FlowId) => Effect.Effect<Option.Option<PlaceAttempt<RecordedPlace>>>
    /** Committed when it returns. None when another call wrote down this number first: then nothing may be sent. */
    readonly record: (
      flowId: FlowId,
      attempt: PlaceAttempt<SignedPlace>,
      at: DateTime.Utc
    ) => Effect.Effect<Option.Option<RecordedPlace>>
  }
>()("ballast/domain/enrollment/PlaceJournal") {}

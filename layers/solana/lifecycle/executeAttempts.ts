/**
 * An operation's transaction, exactly once: what is sent was recorded before, and the same bytes are sent until the
 * chain shows them or can no longer accept them. Only then may other bytes be signed. After a crash the journal leads
 * to the same attempt.
 */
import { Clock, Duration, Effect, Option } from "effect"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { solanaChainId } from "#domain/values/Caip.ts"
import { spanIsAbout } from "#domain/effects/spanAttributes.ts"
import type { Attempt, AttemptJournal } from "#layers/solana/lifecycle/Attempt.ts"
import { AttemptsExpired, OutcomeUnknown } from "#layers/solana/lifecycle/errors.ts"
import { observe, type Outcome } from "#layers/solana/lifecycle/observe.ts"
import type { Commitment } from "#layers/solana/rpc/Requests.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"

export interface LandingTiming {
  /** `confirmed` to go on with a run, `finalized` to report to an owner. */
  readonly commitment: Commitment
  /** Pause between two sendings of the same bytes. */
  readonly resendEvery: Duration.Duration
  /** Time after which the outcome is left open for the next call; a blockhash lives 60 to 90 seconds. */
  readonly waitAtMost: Duration.Duration
}

const defaultLandingTiming: LandingTiming = {
  commitment: "confirmed",
  resendEvery: Duration.seconds(2),
  waitAtMost: Duration.minutes(3)
}

/** What has a conclusion. */
export type FinalOutcome = Exclude<Outcome, { readonly _tag: "Pending" }>

/**
 * Sends a recorded attempt until it has an outcome. What a sending answers proves nothing, so its failure is no
 * end.
 */
export const awaitOutcome = Effect.fn("solana.awaitOutcome")(function* (
  attempt: Attempt,
  { commitment, resendEvery, waitAtMost }: LandingTiming
): Effect.fn.Return<FinalOutcome, ChainUnavailable | OutcomeUnknown, SolanaRpc> {
  const rpc = yield* SolanaRpc
  yield* spanIsAbout({ chainId: solanaChainId, txHash: attempt.signature })
  const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(waitAtMost)
  for (;;) {
    const outcome = yield* observe(attempt, commitment)
    if (outcome._tag !== "Pending") return outcome
    if ((yield* Clock.currentTimeMillis) >= until) return yield* new OutcomeUnknown({ signature: attempt.signature })
    yield* Effect.ignore(rpc.send(attempt.transaction))
    yield* Effect.sleep(resendEvery)
  }
})

/** An attempt with its end. */
export interface Concluded {
  readonly attempt: Attempt
  readonly outcome: Exclude<FinalOutcome, { readonly _tag: "Expired" }>
}

/** Attempts of one operation, one after the other, over all processes that run it. */
const attemptLimit = 5

/**
 * Goes on with the journal's attempt, or makes one. `make` signs; it is called when there is no attempt, and again when
 * the last one has expired.
 */
export const executeAttempts = Effect.fn("solana.executeAttempts")(function* <E, R, E2, R2>(
  journal: AttemptJournal<E, R>,
  make: Effect.Effect<Attempt, E2, R2>,
  timing: LandingTiming = defaultLandingTiming
): Effect.fn.Return<Concluded, E | E2 | ChainUnavailable | OutcomeUnknown | AttemptsExpired, R | R2 | SolanaRpc> {
  const begin = Effect.tap(make, journal.record)
  const before = Option.getOrUndefined(yield* journal.latest)
  let attempt = before?.attempt ?? (yield* begin)
  for (let made = before?.count ?? 1; ; made++) {
    const outcome = yield* awaitOutcome(attempt, timing)
    if (outcome._tag !== "Expired") return { attempt, outcome }
    if (made >= attemptLimit) return yield* new AttemptsExpired({ attempts: made })
    attempt = yield* begin
  }
})

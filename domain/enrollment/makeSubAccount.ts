/**
 * Puts a portfolio's sub-account on Solana, once: the signed transaction is stored before it is sent, and the same
 * bytes are sent until the chain has decided. After a crash in between the next call of stage 2 finds the transaction
 * and goes on with it. Source: docs/decisions/0254-solana-routes.md.
 */
import { DateTime, Effect, Option } from "effect"
import { type SubAccountOutcome, type SolanaConsent, SolanaWallets } from "#domain/account/SolanaWallets.ts"
import type { EnrollmentFlow, IssuedOnSolana } from "#domain/enrollment/Enrollment.ts"
import { SubAccountJournal } from "#domain/enrollment/SubAccountJournal.ts"
import { ReplayInProgress, ReplayMismatch, ValidationFailed } from "#domain/errors/Errors.ts"

/** Transactions of one flow, each after the last can no longer land. */
const attemptLimit = 5

/** What the owner signed, as a grant keeps it. */
export const signatureIn = (consent: SolanaConsent): string =>
  consent._tag === "SignedTransaction" ? consent.transaction : consent.signature

const startAgain = "start again at /v2/enroll/signature"

const underWay = new ReplayInProgress({
  message: "The transaction is on its way to Solana; send the same again in 2 seconds"
})

const withoutEffect = (outcome: Exclude<SubAccountOutcome, { readonly _tag: "Landed" | "Pending" }>) =>
  new ValidationFailed(
    outcome._tag === "Expired"
      ? {
          message: `Solana did not take the transaction in time, and takes it no more; nothing was made. Sign once more, or ${startAgain}`,
          details: ["flowId: the transaction has expired"]
        }
      : {
          message: `Solana took the transaction without effect; nothing was made. Sign once more, or ${startAgain}`,
          details: [`flowId: ${outcome.reason}`]
        }
  )

/**
 * Returns when the sub-account is there. `beforeSigning` runs before the agent signs anything; once something is
 * signed, the flow goes on whatever it would return.
 */
export const makeSubAccounts = Effect.gen(function* () {
  const wallets = yield* SolanaWallets
  const journal = yield* SubAccountJournal

  return Effect.fn("makeSubAccount")(function* <E, R>(
    { authorization, flowId, subAccount }: EnrollmentFlow & IssuedOnSolana,
    consent: SolanaConsent,
    beforeSigning: Effect.Effect<void, E, R>
  ) {
    const ownerSignature = signatureIn(consent)
    const last = Option.getOrUndefined(yield* journal.latest(flowId))
    if (last !== undefined) {
      const isSame = last.ownerSignature === ownerSignature
      const outcome = yield* isSame ? wallets.land(last.subAccount) : wallets.outcome(last.subAccount)
      const isOpen = outcome._tag === "Landed" || outcome._tag === "Pending"
      if (isOpen && !isSame) {
        return yield* new ReplayMismatch({
          message: `A transaction with another signature of the owner is under way for this flowId; send that one again, or ${startAgain}`
        })
      }
      if (outcome._tag === "Landed") return
      if (outcome._tag === "Pending") return yield* underWay
      if (last.number >= attemptLimit) return yield* withoutEffect(outcome)
    }
    yield* beforeSigning
    const signed = yield* wallets.sign(authorization, subAccount, consent)
    const attempt = { number: (last?.number ?? 0) + 1, ownerSignature, subAccount: signed }
    const recorded = yield* journal.record(flowId, attempt, yield* DateTime.now)
    if (Option.isNone(recorded)) return yield* underWay
    const outcome = yield* wallets.land(recorded.value)
    if (outcome._tag === "Landed") return
    return yield* outcome._tag === "Pending" ? underWay : withoutEffect(outcome)
  })
})

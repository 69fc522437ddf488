/** Whether an authorization may be carried out at a moment of the service's clock. */
import { DateTime, Effect } from "effect"
import { namespaceOf } from "#domain/Caip.ts"
import { AuthorizationExpired, ValidationFailed } from "#domain/Errors.ts"
import { authorizationSeconds } from "#domain/withdrawal/WithdrawalAuthorizations.ts"
import type { WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"

/** By how much the clocks of two processes of this service may differ. */
const clockToleranceSeconds = 60

/**
 * How long before its expiry nothing is signed any more on Solana, in seconds: the chain does not know the expiry, and
 * a transaction may land for as long as its blockhash lives, 150 blocks.
 */
export const landingSeconds = 90

const isSolana = ({ recipientAccountId }: Pick<WithdrawalMessage, "recipientAccountId">): boolean =>
  namespaceOf(recipientAccountId) === "solana"

/** The last moment at which a transaction that carries the withdrawal may be signed, in milliseconds since 1970. */
export const lastSigningMillis = (message: Pick<WithdrawalMessage, "expiresAt" | "recipientAccountId">): number =>
  (message.expiresAt - (isSolana(message) ? landingSeconds : 0)) * 1_000

/**
 * Not after the last second in which the chain would still carry it out in time (API_216), and not with a longer life
 * than stage 1 gives, which bounds how long an operation can be under way.
 */
export const requireNotExpired = (message: WithdrawalMessage, now: DateTime.Utc) => {
  const { expiresAt } = message
  if (now.epochMilliseconds > lastSigningMillis(message)) {
    const end = DateTime.formatIso(DateTime.makeUnsafe(expiresAt * 1_000))
    const margin = isSolana(message) ? `; on Solana nothing is begun in the last ${landingSeconds} seconds` : ""
    return Effect.fail(
      new AuthorizationExpired({
        message: "The authorization has expired; start again at stage 1",
        details: [`message.expiresAt: was ${end}${margin}`]
      })
    )
  }
  const latest = Math.floor(now.epochMilliseconds / 1_000) + authorizationSeconds + clockToleranceSeconds
  return expiresAt <= latest
    ? Effect.void
    : Effect.fail(
        new ValidationFailed({
          message: "Send the message as stage 1 issued it",
          details: ["message.expiresAt: is later than stage 1 issues"]
        })
      )
}

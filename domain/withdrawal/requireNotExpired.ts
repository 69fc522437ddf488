/** Whether an authorization may be carried out at a moment of the service's clock. */
import { DateTime, Effect } from "effect"
import type { FamilyTerms } from "#domain/chain/Families.ts"
import { AuthorizationExpired, ValidationFailed } from "#domain/errors/Errors.ts"
import { authorizationSeconds } from "#domain/withdrawal/WithdrawalAuthorizations.ts"
import type { WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"

/** Seconds by which the clocks of two processes of this service may differ. */
const clockToleranceSeconds = 60

/** The last moment at which a transaction that includes the withdrawal may be signed, in milliseconds since 1970. */
export const lastSigningMillis = (
  { expiresAt }: Pick<WithdrawalMessage, "expiresAt">,
  { landingSeconds }: Pick<FamilyTerms, "landingSeconds">
): number => (expiresAt - landingSeconds) * 1_000

/**
 * Not after the last second in which the chain would still carry it out in time (API_216), and not with a longer life
 * than stage 1 gives, which bounds how long an operation can be under way.
 */
export const requireNotExpired = (
  { expiresAt }: Pick<WithdrawalMessage, "expiresAt">,
  { chains, landingSeconds }: Pick<FamilyTerms, "chains" | "landingSeconds">,
  now: DateTime.Utc
) => {
  if (now.epochMilliseconds > lastSigningMillis({ expiresAt }, { landingSeconds })) {
    const end = DateTime.formatIso(DateTime.makeUnsafe(expiresAt * 1_000))
    const margin = landingSeconds === 0 ? "" : `; on ${chains} nothing is begun in the last ${landingSeconds} seconds`
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

/**
 * What the service pays gas for: withdrawals of assets that are in its catalogue. A token that was not reviewed can
 * burn any amount of gas, and pass a simulation while it does.
 */
import { DateTime, Effect, Option } from "effect"
import type { Assets } from "#domain/asset/Assets.ts"
import { tokensOf } from "#domain/account/WithdrawalMessage.ts"
import { chainIdOf, isNative } from "#domain/values/Caip.ts"
import { RateLimited, ValidationFailed } from "#domain/errors/Errors.ts"
import { type GasBudget, secondsLeftOfDay } from "#domain/relay/GasBudget.ts"
import type { Payee } from "#domain/relay/GasLedger.ts"
import type { AuthorizedWithdrawal } from "#domain/withdrawal/AuthorizedWithdrawal.ts"
import type { WithdrawalVerifier } from "#domain/withdrawal/WithdrawalVerifier.ts"

/** How the owner, or anybody else, carries out what was signed and pays for it, as lines of an error's details. */
const withoutUs = (
  verifier: Pick<WithdrawalVerifier["Service"], "selfSubmission">,
  withdrawal: AuthorizedWithdrawal
): ReadonlyArray<string> => {
  const submission = verifier.selfSubmission(withdrawal)
  const { accountId, message } = withdrawal
  if (Option.isNone(submission)) {
    return [`message: the owner can take out of ${accountId} without the service, by the root of its wallet`]
  }
  const { deploy, withdraw } = submission.value
  const chainId = chainIdOf(accountId)
  return [
    `message: until ${DateTime.formatIso(DateTime.makeUnsafe(message.expiresAt * 1_000))} anybody can send it: on chain ${chainId} a transaction to ${withdraw.to} with the data ${withdraw.data}`,
    `message: if ${accountId} has no code yet, first one to ${deploy.to} with the data ${deploy.data}`
  ]
}

/** Fails where an asset is not in the catalogue, and explains how the owner withdraws without the service. */
export const requireKnown = Effect.fnUntraced(function* (
  assets: Assets["Service"],
  verifier: Pick<WithdrawalVerifier["Service"], "selfSubmission">,
  withdrawal: AuthorizedWithdrawal
) {
  const requested = withdrawal.message.assets.map(({ assetId }) => assetId)
  const known = yield* assets.find(tokensOf(withdrawal.message).map(({ assetId }) => assetId))
  const details = requested.flatMap((assetId, index) =>
    isNative(assetId) || known.has(assetId)
      ? []
      : [`message.assets.${index}.assetId: is not in the catalogue of this service`]
  )
  if (details.length > 0) {
    return yield* new ValidationFailed({
      message:
        "The service pays gas for assets of its catalogue only; send what was signed yourself, or withdraw the others alone",
      details: [...details, ...withoutUs(verifier, withdrawal)]
    })
  }
})

interface BudgetServices {
  readonly budget: GasBudget["Service"]
  readonly verifier: Pick<WithdrawalVerifier["Service"], "selfSubmission">
}

/** Fails where the day's gas for what the portfolio's owner signs is used up. */
export const requireBudget = Effect.fnUntraced(function* (
  { budget, verifier }: BudgetServices,
  payee: Payee,
  withdrawal: AuthorizedWithdrawal
) {
  const refusal = yield* budget.refusalOfOwner(payee)
  if (Option.isNone(refusal)) return
  return yield* new RateLimited({
    message: `The service pays for no more now: ${refusal.value}`,
    details: withoutUs(verifier, withdrawal),
    retryAfterSeconds: secondsLeftOfDay(yield* DateTime.now)
  })
})

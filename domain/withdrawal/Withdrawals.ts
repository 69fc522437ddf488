/**
 * Stage 2 of a withdrawal: takes a signed authorization, and once everything about it is in order, accepts the
 * operation that carries it out. Idempotent on the message's nonce; whatever refuses leaves nothing behind. Source:
 * shapes 2.23.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { Assets } from "#domain/asset/Assets.ts"
import { namespaceOf } from "#domain/values/Caip.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { Families } from "#domain/chain/Families.ts"
import { ServiceContracts } from "#domain/chain/ServiceContracts.ts"
import {
  type AuthorizationExpired,
  type InsufficientBalance,
  PortfolioMismatch,
  type PortfolioNotFound,
  type RateLimited,
  ReplayInProgress,
  ReplayMismatch,
  SignatureInvalid,
  ValidationFailed,
  type VerifierUnavailable
} from "#domain/errors/Errors.ts"
import { underClaim } from "#domain/effects/underClaim.ts"
import { Caller } from "#domain/identity/Caller.ts"
import { makeOperationId, type PortfolioId } from "#domain/values/Ids.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { requireCovered } from "#domain/withdrawal/liveBalances.ts"
import { GasBudget } from "#domain/relay/GasBudget.ts"
import { portfolioNotFound } from "#domain/withdrawal/WithdrawalAuthorizations.ts"
import type { SentMessage, SignedWithdrawal, WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"
import { withdrawalRequestBytes } from "#domain/withdrawal/withdrawalRequestBytes.ts"
import { requireOneTransaction } from "#domain/withdrawal/requireOneTransaction.ts"
import { requireRecipient } from "#domain/withdrawal/requireRecipient.ts"
import { requireBudget, requireKnown } from "#domain/withdrawal/requirePayable.ts"
import { requireNotExpired } from "#domain/withdrawal/requireNotExpired.ts"
import { resolveSource, type TermsError, type ResolvedSource } from "#domain/withdrawal/resolveSource.ts"
import { type AcceptedWithdrawal, type NonceClaimRequest, WithdrawalStore } from "#domain/withdrawal/WithdrawalStore.ts"
import { WithdrawalVerifier } from "#domain/withdrawal/WithdrawalVerifier.ts"

export type SubmitError =
  | PortfolioNotFound
  | PortfolioMismatch
  | TermsError
  | ReplayInProgress
  | ReplayMismatch
  | AuthorizationExpired
  | ValidationFailed
  | SignatureInvalid
  | RateLimited
  | InsufficientBalance
  | VerifierUnavailable

/** Longer than a slow chain takes to answer; a process that died holds a nonce no longer than this. */
const claimLease = { seconds: 60 }

/**
 * Stage 2 of a withdrawal.
 *
 * **When to use**
 *
 * Use in the route `withdraw` and its legacy forms. Stage 1 is `WithdrawalAuthorizations`.
 */
export class Withdrawals extends Context.Service<
  Withdrawals,
  {
    /** `requireLiquidate`: the message must be one that liquidates. */
    readonly submit: (
      portfolioId: PortfolioId,
      signed: { readonly message: SentMessage; readonly signature: string },
      options?: { readonly requireLiquidate?: boolean }
    ) => Effect.Effect<AcceptedWithdrawal, SubmitError, Caller>
  }
>()("ballast/domain/withdrawal/Withdrawals") {
  static readonly layer = Layer.effect(
    Withdrawals,
    Effect.gen(function* () {
      const store = yield* WithdrawalStore
      const balances = yield* Balances
      const verifier = yield* WithdrawalVerifier
      const assets = yield* Assets
      const budget = yield* GasBudget
      const launcher = yield* OperationLauncher
      const digest = yield* Digest.Digest
      const random = yield* SecureRandom.SecureRandom
      const contracts = yield* ServiceContracts
      const families = yield* Families

      /** What the body alone can be wrong about: a body that was accepted once passes this for ever. */
      const requireSite = Effect.fnUntraced(function* (
        portfolioId: PortfolioId,
        message: SentMessage,
        requireLiquidate: boolean
      ) {
        const { tenantId } = yield* Caller
        const source = yield* store.source(tenantId, portfolioId)
        if (Option.isNone(source)) return yield* portfolioNotFound(portfolioId)
        if (message.portfolioId !== portfolioId) {
          return yield* new PortfolioMismatch({
            message: "Send the message to the portfolio that it was issued for",
            details: [`message.portfolioId: differs from the path, which is ${portfolioId}`]
          })
        }
        if (requireLiquidate && message.liquidate !== true) {
          return yield* new ValidationFailed({
            message: "This route takes a message of liquidate-all/signature; send others to /withdraw",
            details: ["message.liquidate: must be true"]
          })
        }
        const site = yield* Effect.fromResult(
          resolveSource(
            { ...message, liquidate: message.liquidate === true },
            {
              grants: source.value.grants,
              contracts: contracts.on,
              families,
              at: "message."
            }
          )
        )
        // Every text is signed, so an account must be spelled as stage 1 spelled it.
        if (message.recipientAccountId !== site.recipientAccountId) {
          return yield* new ValidationFailed({
            message: "Send the message as stage 1 issued it",
            details: ["message.recipientAccountId: Expected the value that stage 1 issued, unchanged"]
          })
        }
        const checked: WithdrawalMessage = {
          ...message,
          portfolioId,
          recipientAccountId: site.recipientAccountId
        }
        return { message: checked, site }
      })

      /** What may change from one moment to the next; answers the block at which the account holds enough. */
      const verifyOrder = Effect.fnUntraced(function* ({ message, signature }: SignedWithdrawal, site: ResolvedSource) {
        const terms = families[namespaceOf(message.recipientAccountId)]
        yield* requireNotExpired(message, terms, yield* DateTime.now)
        yield* requireOneTransaction(families, message.assets, "message.")
        const { accountId } = site.chain
        if (!(yield* verifier.isSignedByOwner({ message, signature, accountId, grant: site.grant }))) {
          return yield* new SignatureInvalid({
            message: "The signature is not the owner's; sign what stage 1 issued, unchanged, with the owner's wallet",
            details: ["signature: does not verify for the portfolio's owner"]
          })
        }
        const withdrawal = { message, signature, accountId, grant: site.grant }
        yield* requireRecipient(verifier, site.recipientAccountId, "message.")
        yield* requireKnown(assets, verifier, withdrawal)
        const { tenantId } = yield* Caller
        yield* requireBudget({ budget, verifier }, { tenantId, portfolioId: message.portfolioId }, withdrawal)
        const block = yield* requireCovered(balances, { account: accountId, assets: message.assets, at: "message." })
        // Reading the chain took time.
        yield* requireNotExpired(message, terms, yield* DateTime.now)
        return block
      })

      const accept = Effect.fnUntraced(function* (
        signed: SignedWithdrawal,
        site: ResolvedSource,
        claim: NonceClaimRequest
      ) {
        const acceptedAtBlock = yield* verifyOrder(signed, site)
        const accepted: AcceptedWithdrawal = {
          operationId: yield* Effect.provideService(makeOperationId, SecureRandom.SecureRandom, random),
          submittedAt: yield* DateTime.now
        }
        const written = yield* store.accept(
          {
            ...signed,
            ...accepted,
            tenantId: claim.tenantId,
            portfolioId: signed.message.portfolioId,
            accountId: site.chain.accountId,
            acceptedAtBlock
          },
          claim
        )
        return written ? accepted : yield* inProgress
      })

      const submit = Effect.fn("Withdrawals.submit")(function* (
        portfolioId: PortfolioId,
        sent: { readonly message: SentMessage; readonly signature: string },
        { requireLiquidate = false }: { readonly requireLiquidate?: boolean } = {}
      ) {
        const { message, site } = yield* requireSite(portfolioId, sent.message, requireLiquidate)
        const signed: SignedWithdrawal = { message, signature: sent.signature }
        const { tenantId } = yield* Caller
        const now = yield* DateTime.now
        const claim: NonceClaimRequest = {
          tenantId,
          nonce: signed.message.nonce,
          requestHash: yield* digest.digest(Digest.sha256, withdrawalRequestBytes(signed)),
          now,
          leaseUntil: DateTime.add(now, claimLease)
        }
        const underNonce = underClaim({ claim: store.claim(claim), release: store.release(claim) })
        const found = yield* underNonce((state) => {
          switch (state._tag) {
            case "Replayed":
              return Effect.succeed({ accepted: state.accepted, isNew: false })
            case "Mismatch":
              return Effect.fail(
                new ReplayMismatch({ message: "This nonce was used with another body; start again at stage 1" })
              )
            case "InProgress":
              return Effect.fail(inProgress)
            case "Claimed":
              return Effect.map(accept(signed, site, claim), (accepted) => ({ accepted, isNew: true }))
          }
        })
        const { accepted } = found
        if (!found.isNew) return accepted
        // It is accepted whatever becomes of the launch: the scheduler launches what it finds accepted.
        yield* launcher
          .launch({ operationId: accepted.operationId, kind: "withdraw" })
          .pipe(Effect.catchCause((cause) => Effect.logError("A withdrawal was accepted but not launched yet", cause)))
        return accepted
      })

      return Withdrawals.of({ submit })
    })
  )
}

const inProgress = new ReplayInProgress({ message: "This withdrawal is still in progress; retry in 2 seconds" })

/**
 * Signing anew as the legacy routes have it: one text with the 32 bytes at its end goes out, and comes back unchanged
 * with the owner's signature over these bytes. The rest is `Renewals`. Source: shapes 2.30,
 * docs/decisions/0165-legacy-signatures.md.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import type { EnrollmentFlow } from "#domain/enrollment/Enrollment.ts"
import { EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import { Renewals } from "#domain/enrollment/Renewals.ts"
import type { ActivationError } from "#domain/enrollment/SignedChains.ts"
import { SmartAccounts } from "#domain/account/SmartAccounts.ts"
import { PortfolioNotFound, ValidationFailed, type VerifierUnavailable } from "#domain/errors/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"
import { FlowId, type PortfolioId, type TenantId } from "#domain/values/Ids.ts"
import type { Portfolio } from "#domain/portfolio/Portfolio.ts"
import { BrandName } from "#domain/values/BrandName.ts"

export interface IssuedConsent {
  readonly flow: EnrollmentFlow
  /** A line for people, an empty line, and the 32 bytes in hex that the owner signs. */
  readonly message: string
}

const named = /\((flow_[0-9A-Z]{26})\)\n\n0x[0-9a-f]{64}$/u

const consentTo = ({ authorization, flowId }: EnrollmentFlow, portfolioId: PortfolioId, brandName: string): string =>
  `I let the agent of ${brandName} go on managing my portfolio ${portfolioId} (${flowId})\n\n${authorization.root}`

const isOfSignature = (error: ActivationError) =>
  error._tag === "ValidationFailed" && error.details?.some((line) => line.startsWith("signature:")) === true

const howToSign = "sign these 32 bytes as raw bytes with EIP-191, as signMessage({ message: { raw: data.hash } }) does"

/** Refusal that v1 answers where v2 refuses by its stages, which v1 has not. */
const hashUnsigned = new ValidationFailed({
  message: `The signature is not the owner's over data.hash of /resign; ${howToSign}`,
  details: ["signature: does not recover to the owner over data.hash"]
})

/** The owner signed, and what no chain takes for a permission. */
const textSigned = (what: string) =>
  new ValidationFailed({
    message: `The owner signed ${what}, which changes no permission; data.hash of /resign is what counts: ${howToSign}`,
    details: [`signature: is the owner's over ${what}, not over data.hash`]
  })

/**
 * Signing anew, as v1 has it.
 *
 * **When to use**
 *
 * Use in the legacy routes alone. v2 uses `Renewals`.
 */
export class LegacyRenewals extends Context.Service<
  LegacyRenewals,
  {
    /**
     * Renews all chains of the portfolio on today's terms. Owners that are contracts sign typed data, which v2 issues.
     */
    readonly resign: (
      portfolioId: PortfolioId
    ) => Effect.Effect<IssuedConsent, PortfolioNotFound | ValidationFailed | VerifierUnavailable, Caller>
    /** Idempotent on the message. `signature` is EIP-191 over the 32 bytes at its end, in hex. */
    readonly resubmit: (
      portfolioId: PortfolioId,
      consent: { readonly message: string; readonly signature: string }
    ) => Effect.Effect<Portfolio, ActivationError, Caller>
  }
>()("ballast/domain/enrollment/LegacyRenewals") {
  static readonly layer = Layer.effect(
    LegacyRenewals,
    Effect.gen(function* () {
      const renewals = yield* Renewals
      const store = yield* EnrollmentStore
      const accounts = yield* SmartAccounts
      const brandName = yield* BrandName

      const resign = Effect.fn("LegacyRenewals.resign")(function* (portfolioId: PortfolioId) {
        const flow = yield* renewals.authorize(portfolioId)
        if (flow.authorization.accountType === "ERC1271") {
          return yield* new ValidationFailed({
            message: `The owner is a contract, which signs typed data; sign anew at /v2/portfolios/${portfolioId}/resign`,
            details: ["portfolioId: its owner is a contract"]
          })
        }
        return { flow, message: consentTo(flow, portfolioId, brandName) }
      })

      /** The flow that a message was issued for; none for a text that `resign` did not issue to this tenant. */
      const flowOf = Effect.fnUntraced(function* (tenantId: TenantId, message: string) {
        const flowId = Schema.decodeUnknownOption(FlowId)(named.exec(message)?.[1])
        return Option.isNone(flowId) ? Option.none() : yield* store.findFlow(tenantId, flowId.value)
      })

      /** What wallets sign when they are given the bytes, or all that was issued, as a text. */
      const refusalOf = Effect.fnUntraced(function* (
        { authorization: { ownerAccountId, root } }: EnrollmentFlow,
        { message, signature }: { readonly message: string; readonly signature: string }
      ) {
        if (yield* accounts.isTextSignedByOwner(ownerAccountId, message, signature))
          return textSigned("the text of signatureAction.message")
        const isHexSigned = yield* accounts.isTextSignedByOwner(ownerAccountId, root, signature)
        return isHexSigned ? textSigned("the hex of data.hash as a text") : hashUnsigned
      })

      const resubmit = Effect.fn("LegacyRenewals.resubmit")(function* (
        portfolioId: PortfolioId,
        { message, signature }: { readonly message: string; readonly signature: string }
      ) {
        const { tenantId } = yield* Caller
        if (Option.isNone(yield* store.findEnrolled(tenantId, portfolioId))) {
          return yield* new PortfolioNotFound({ message: `There is no portfolio ${portfolioId} of this tenant` })
        }
        const flow = yield* flowOf(tenantId, message)
        if (Option.isNone(flow) || message !== consentTo(flow.value, portfolioId, brandName)) {
          return yield* new ValidationFailed({
            message: "Send back the signatureAction of /resign unchanged; ask for a new one if it is older than a day",
            details: ["signatureAction.message: not one that was issued for this portfolio"]
          })
        }
        const { accountIndex, agentAccountId, chains } = flow.value.authorization
        return yield* renewals
          .renew({
            portfolioId,
            flowId: flow.value.flowId,
            chainIds: chains.map(({ chainId }) => chainId),
            accountIndex: accountIndex.toString(),
            agentAccountId,
            signature
          })
          .pipe(
            Effect.catchIf(isOfSignature, () =>
              Effect.flatMap(refusalOf(flow.value, { message, signature }), Effect.fail)
            )
          )
      })

      return LegacyRenewals.of({ resign, resubmit })
    })
  )
}

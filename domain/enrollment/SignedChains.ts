/**
 * What the owner of an enrolled portfolio signs in two stages, more chains or new permissions: whose portfolio it is,
 * and the second stage. Source: shapes A.
 */
import { DateTime, Effect, Option } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import { SmartAccounts } from "#domain/account/SmartAccounts.ts"
import {
  type ActivationRequest,
  activationMismatches,
  activationRequestBytes
} from "#domain/enrollment/ActivationRequest.ts"
import type { Activated, EnrollmentFlow, Refused } from "#domain/enrollment/Enrollment.ts"
import { type ActivationRefusal, EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import { type FlowError, makeFlows } from "#domain/enrollment/Flows.ts"
import { signatureRefused } from "#domain/account/OwnerMessage.ts"
import { type PortfolioExists, PortfolioNotFound } from "#domain/errors/Errors.ts"
import { Caller } from "#domain/identity/Caller.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"

export type ActivationError = Exclude<FlowError, PortfolioExists> | PortfolioNotFound

export const makeSignedChains = Effect.gen(function* () {
  const store = yield* EnrollmentStore
  const accounts = yield* SmartAccounts
  const flows = yield* makeFlows

  const requirePortfolio = Effect.fnUntraced(function* (portfolioId: PortfolioId) {
    const { tenantId } = yield* Caller
    const portfolio = yield* store.findEnrolled(tenantId, portfolioId)
    if (Option.isNone(portfolio)) {
      return yield* new PortfolioNotFound({ message: `There is no portfolio ${portfolioId} of this tenant` })
    }
    return portfolio.value
  })

  const execute = Effect.fnUntraced(function* (flow: EnrollmentFlow, request: ActivationRequest) {
    const { authorization } = flow
    if (!(yield* accounts.isSignedByOwner(authorization, request.signature))) {
      return yield* signatureRefused(authorization.accountType)
    }
    const result = yield* store.activate({
      portfolioId: request.portfolioId,
      flow,
      ownerSignature: request.signature,
      grantedAt: yield* DateTime.now
    })
    return result._tag === "Activated" ? result : overtaken[result._tag]
  })

  /** Stage 2, idempotent on the flow. `active` are chains that stage 1 may have left out. */
  const finish = (purpose: "Activate" | "Renew", request: ActivationRequest, active: ReadonlySet<ChainId>) =>
    flows
      .resume<Activated>({
        flowId: request.flowId,
        purpose: { _tag: purpose, portfolioId: request.portfolioId },
        body: activationRequestBytes(request),
        mismatches: (flow) => activationMismatches(request, flow, active),
        execute: (flow) => execute(flow, request)
      })
      .pipe(
        Effect.map(({ portfolio }) => portfolio),
        // Only an enrollment is refused with it.
        Effect.catchTag("PortfolioExists", Effect.die)
      )

  return { begin: flows.begin, finish, requirePortfolio }
})

/** What happened between the stages. */
const overtaken: Record<ActivationRefusal["_tag"], Refused> = {
  Revoked: {
    _tag: "Refused",
    error: "ValidationFailed",
    message: "The owner revoked the agent's permissions after stage 1; start again at stage 1",
    details: ["portfolioId: revoked by its owner"]
  },
  ChainActive: {
    _tag: "Refused",
    error: "ValidationFailed",
    message: "Another activation of this portfolio took one of the chains first; start again at stage 1",
    details: ["chainIds: already active"]
  },
  PortfolioGone: {
    _tag: "Refused",
    error: "ValidationFailed",
    message: "The portfolio was archived meanwhile",
    details: ["portfolioId: archived"]
  }
}

/** Contract: the owner signs anew for the chains of a portfolio, in two stages. Source: shapes 2.30 (resign). */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ok } from "#http/v2/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { Idempotency } from "#http/middleware/Idempotency.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { ActivationBody } from "#http/v2/enrollment/ActivationModel.ts"
import { SignatureIssued } from "#http/v2/enrollment/EnrollmentModel.ts"
import { RenewalDraft } from "#http/v2/enrollment/RenewalModel.ts"
import { Portfolio } from "#http/portfolio/PortfolioModel.ts"
import { PortfolioIdParam } from "#http/values/values.ts"
import { operation } from "#http/openapi/operation.ts"
import { PortfolioNotFound, ReplayInProgress, ReplayMismatch, VerifierUnavailable } from "#http/wireErrors.ts"

const params = { portfolioId: PortfolioIdParam }

const prepare = HttpApiEndpoint.post("prepareResign", "/portfolios/:portfolioId/resign/signature", {
  params,
  payload: RenewalDraft,
  success: ok(SignatureIssued),
  error: [PortfolioNotFound, VerifierUnavailable]
})
  .middleware(Idempotency)
  .annotateMerge(
    operation({
      id: "prepareResign",
      summary: "Prepare new permissions (stage 1)",
      description:
        "Issues the message by which the owner replaces the agent's permissions on the portfolio's chains, and a flow that is valid 24 hours. Permissions end by themselves after 180 days; `GET /v2/portfolios/{portfolioId}/policy` shows when. Nothing changes yet. `API_506`: the account could not be read from a chain; nothing was stored, send the same again.",
      scope: "enroll:write",
      tier: "critical"
    })
  )

const resign = HttpApiEndpoint.post("resign", "/portfolios/:portfolioId/resign", {
  params,
  payload: ActivationBody,
  success: ok(Portfolio),
  error: [PortfolioNotFound, ReplayInProgress, ReplayMismatch, VerifierUnavailable]
})
  .middleware(Idempotency)
  .annotateMerge(
    operation({
      id: "resign",
      summary: "Replace the permissions (stage 2)",
      description:
        "Checks the owner's signature and stores the new permissions; the next rebalance enables them and removes the earlier ones. A revoked portfolio is `stopped` from then on: start it when it shall go on. Idempotent on `flowId`: the same body is answered the same way again, another body is refused.",
      scope: "enroll:write",
      tier: "critical"
    })
  )

export const Renewal = HttpApiGroup.make("renewal")
  .annotate(OpenApi.Title, "Renewal of permissions")
  .annotate(OpenApi.Description, "New permissions of the agent for a portfolio, with one more signature of its owner.")
  .add(prepare, resign)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .prefix("/v2")

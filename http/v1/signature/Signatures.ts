/** Contract: the legacy routes by which an owner signs anew. Source: interface "Legacy v1 REST routes", shapes 2.30. */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { okV1 } from "#http/v1/envelopeV1.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { ErrorsV1 } from "#http/middleware/ErrorsV1.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { NoBody, Resigned, ResubmitBody, Resubmitted } from "#http/v1/signature/SignatureModel.ts"
import { PortfolioIdParam } from "#http/values/values.ts"
import { operation } from "#http/openapi/operation.ts"
import { PortfolioNotFound, ReplayInProgress, ReplayMismatch, VerifierUnavailable } from "#http/wireErrors.ts"

const params = { portfolioId: PortfolioIdParam }

const resign = HttpApiEndpoint.post("legacyResign", "/portfolio/:portfolioId/resign", {
  params,
  payload: NoBody,
  success: okV1(Resigned),
  error: [PortfolioNotFound, VerifierUnavailable]
}).annotateMerge(
  operation({
    id: "legacyResign",
    summary: "Prepare new permissions",
    description:
      "Issues what the owner signs to replace the agent's permissions on all chains of the portfolio, valid 24 hours. Nothing changes yet. An owner that is a contract signs at `/v2/portfolios/{portfolioId}/resign`.",
    scope: "enroll:write",
    tier: "critical"
  })
)

const resubmit = HttpApiEndpoint.post("resubmitSignature", "/portfolio/:portfolioId/resubmit-signature", {
  params,
  payload: ResubmitBody,
  success: okV1(Resubmitted),
  error: [PortfolioNotFound, ReplayInProgress, ReplayMismatch, VerifierUnavailable]
}).annotateMerge(
  operation({
    id: "resubmitSignature",
    summary: "Replace the permissions",
    description:
      "Checks the owner's signature over the 32 bytes of `resign` and stores the new permissions; the next operation on each chain enables them and, under the trade guard, removes the earlier ones. Idempotent on the message.",
    scope: "enroll:write",
    tier: "critical"
  })
)

export const Signatures = HttpApiGroup.make("signatures")
  .annotate(OpenApi.Title, "Signatures of owners")
  .annotate(OpenApi.Description, "Legacy routes: an owner signs anew for the agent's permissions.")
  .add(resign, resubmit)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .middleware(ErrorsV1)
  .prefix("/v1")

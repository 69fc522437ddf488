/** Contract: the owner ends the agent's permissions, in two stages. Source: docs/decisions/0115-revocations.md. */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ok } from "#http/v2/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { Idempotency } from "#http/middleware/Idempotency.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { Submitted } from "#http/operation/OperationModel.ts"
import { RevocationBody, RevocationDraft, RevocationIssued } from "#http/v2/revocation/RevocationModel.ts"
import { PortfolioIdParam } from "#http/values/values.ts"
import { operation } from "#http/openapi/operation.ts"
import { PortfolioNotFound, ReplayMismatch, VerifierUnavailable } from "#http/wireErrors.ts"

const params = { portfolioId: PortfolioIdParam }

const prepare = HttpApiEndpoint.post("prepareRevocation", "/portfolios/:portfolioId/revoke/signature", {
  params,
  payload: RevocationDraft,
  success: ok(RevocationIssued),
  error: [PortfolioNotFound, VerifierUnavailable]
})
  .middleware(Idempotency)
  .annotateMerge(
    operation({
      id: "prepareRevocation",
      summary: "Prepare a revocation (stage 1)",
      description:
        "Issues the message by which the owner ends every permission of the agent on the portfolio's chains, those that were never used included, and a flow that is valid 24 hours; a later one takes its place. Nothing changes yet. `API_506`: the account could not be read from a chain; nothing was stored, send the same again, or name the other chains.",
      scope: "enroll:write",
      tier: "critical"
    })
  )

const revoke = HttpApiEndpoint.post("revoke", "/portfolios/:portfolioId/revoke", {
  params,
  payload: RevocationBody,
  success: ok(Submitted).pipe(HttpApiSchema.status(202)),
  error: [PortfolioNotFound, ReplayMismatch, VerifierUnavailable]
})
  .middleware(Idempotency)
  .annotateMerge(
    operation({
      id: "revoke",
      summary: "Revoke the agent's permissions (stage 2)",
      description:
        "Checks the owner's signature, pauses the portfolio with the reason `revoked`, and starts the operation that submits the owner's signed message to each chain; when it is `completed`, the agent can do nothing there any more. Deposits and withdrawals go on. Idempotent on `flowId`: the same body is answered the same way again, another body is refused. The owner signs anew at `/v2/portfolios/{portfolioId}/resign/signature`.",
      scope: "enroll:write",
      tier: "critical"
    })
  )

export const Revocation = HttpApiGroup.make("revocation")
  .annotate(OpenApi.Title, "Revocation")
  .annotate(OpenApi.Description, "The end of the agent's permissions, by the owner's signature.")
  .add(prepare, revoke)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .prefix("/v2")

/** Contract: more chains for a portfolio, in two stages. Source: shapes A. */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ok } from "#http/v2/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { Idempotency } from "#http/middleware/Idempotency.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { ActivationBody, ActivationDraft } from "#http/v2/enrollment/ActivationModel.ts"
import { SignatureIssued } from "#http/v2/enrollment/EnrollmentModel.ts"
import { Portfolio } from "#http/portfolio/PortfolioModel.ts"
import { PortfolioIdParam } from "#http/values/values.ts"
import { operation } from "#http/openapi/operation.ts"
import { PortfolioNotFound, ReplayInProgress, ReplayMismatch, VerifierUnavailable } from "#http/wireErrors.ts"

const params = { portfolioId: PortfolioIdParam }

const prepare = HttpApiEndpoint.post("prepareActivation", "/portfolios/:portfolioId/chains/signature", {
  params,
  payload: ActivationDraft,
  success: ok(SignatureIssued),
  error: [PortfolioNotFound, VerifierUnavailable]
})
  .middleware(Idempotency)
  .annotateMerge(
    operation({
      id: "prepareActivation",
      summary: "Prepare the activation of chains (stage 1)",
      description:
        "Issues the message by which the owner authorizes the portfolio's account on further chains, where it has the same address, and a flow that is valid 24 hours. A chain of the portfolio on which a rebalance is `awaiting_user` is authorized anew in the same way. Nothing changes yet. A portfolio whose owner is a contract stays on its chain. `API_506`: the account could not be read from the chain; nothing was stored, send the same again.",
      scope: "enroll:write",
      tier: "critical"
    })
  )

const activate = HttpApiEndpoint.post("activateChains", "/portfolios/:portfolioId/chains", {
  params,
  payload: ActivationBody,
  success: ok(Portfolio),
  error: [PortfolioNotFound, ReplayInProgress, ReplayMismatch, VerifierUnavailable]
})
  .middleware(Idempotency)
  .annotateMerge(
    operation({
      id: "activateChains",
      summary: "Activate chains (stage 2)",
      description:
        "Checks the owner's signature and adds the smart accounts, all or nothing; the next rebalance trades on the new chains too, and one that is `awaiting_user` goes on. Idempotent on `flowId`: the same body is answered the same way again, another body is refused.",
      scope: "enroll:write",
      tier: "critical"
    })
  )

export const Activation = HttpApiGroup.make("activation")
  .annotate(OpenApi.Title, "Chain activation")
  .annotate(OpenApi.Description, "More chains for a portfolio, with one more signature of its owner.")
  .add(prepare, activate)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .prefix("/v2")

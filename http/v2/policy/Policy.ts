/** Contract: the proof of what the agent may do. Source: docs/decisions/0117-proof-of-the-policy.md. */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ok } from "#http/v2/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { PortfolioPolicy } from "#http/portfolio/PolicyModel.ts"
import { PortfolioIdParam } from "#http/values/values.ts"
import { operation } from "#http/openapi/operation.ts"
import { NotFound } from "#http/wireErrors.ts"

const get = HttpApiEndpoint.get("getPolicy", "/portfolios/:portfolioId/policy", {
  params: { portfolioId: PortfolioIdParam },
  success: ok(PortfolioPolicy),
  error: NotFound
}).annotateMerge(
  operation({
    id: "getPolicy",
    summary: "Get what the agent may do",
    description:
      "Reads from each chain, at one block, the permissions of the agent's key on the account: which calls pass, until when, what is left of the loss budget, and the guard's registry. `checks` are the calls by which anybody reads the same from any node. A chain that does not answer is `null`, never an error.",
    scope: "portfolios:read",
    tier: "critical"
  })
)

export const Policy = HttpApiGroup.make("policy")
  .annotate(OpenApi.Title, "Policy")
  .annotate(OpenApi.Description, "What the agent may do on the accounts of a portfolio, as the chains enforce it.")
  .add(get)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .prefix("/v2")

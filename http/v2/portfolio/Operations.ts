/** Contract: polling of asynchronous work. Source: interface "Operation", shapes 2.21. */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ok } from "#http/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { Operation } from "#http/v2/portfolio/OperationModel.ts"
import { OperationIdParam, PortfolioIdParam } from "#http/v2/values/values.ts"
import { operation } from "#http/v2/operation.ts"
import { NotFound } from "#http/wireErrors.ts"

const get = HttpApiEndpoint.get("getOperation", "/portfolios/:portfolioId/operations/:operationId", {
  params: { portfolioId: PortfolioIdParam, operationId: OperationIdParam },
  success: ok(Operation),
  error: NotFound
}).annotateMerge(
  operation({
    id: "getOperation",
    summary: "Get an operation",
    description:
      "The state of asynchronous work. Poll every 2 to 5 seconds until `completed`, `failed` or `cancelled`.",
    scope: "portfolios:read",
    tier: "burst"
  })
)

export const Operations = HttpApiGroup.make("operations")
  .annotate(OpenApi.Title, "Operations")
  .annotate(OpenApi.Description, "Asynchronous work on a portfolio, tracked by polling.")
  .add(get)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .prefix("/v2")

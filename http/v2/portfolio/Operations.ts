/** Contract: polling of asynchronous work. Source: interface "Operation", shapes 2.21. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { OperationKind, OperationState } from "#domain/operation/Operation.ts"
import { utcFromText } from "#domain/values/UtcFromText.ts"
import { ok, page } from "#http/v2/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { OperationDetail, OperationItem } from "#http/operation/OperationModel.ts"
import { emptyBody } from "#http/values/emptyBody.ts"
import { pageQuery } from "#http/values/PageQuery.ts"
import { OperationIdParam, PortfolioIdParam } from "#http/values/values.ts"
import { operation } from "#http/openapi/operation.ts"
import { CursorInvalid, NotFound, OperationNotCancellable } from "#http/wireErrors.ts"

const get = HttpApiEndpoint.get("getOperation", "/portfolios/:portfolioId/operations/:operationId", {
  params: { portfolioId: PortfolioIdParam, operationId: OperationIdParam },
  success: ok(OperationDetail),
  error: NotFound
}).annotateMerge(
  operation({
    id: "getOperation",
    summary: "Get an operation",
    description:
      "The state of asynchronous work, and what it did once it has ended. Poll every 2 to 5 seconds until `completed`, `failed` or `cancelled`.",
    scope: "portfolios:read",
    tier: "burst"
  })
)

const cancel = HttpApiEndpoint.post("cancelOperation", "/portfolios/:portfolioId/operations/:operationId/cancel", {
  params: { portfolioId: PortfolioIdParam, operationId: OperationIdParam },
  payload: emptyBody,
  disableCodecs: true,
  success: ok(OperationDetail),
  error: [NotFound, OperationNotCancellable]
}).annotateMerge(
  operation({
    id: "cancelOperation",
    summary: "Cancel an operation",
    description:
      "What is not signed yet is not sent; what is signed is followed to its end. Answers the operation as it is now: poll it until `cancelled`, with what landed in `result`. A rebalance that has nothing left to sign ends as if it had not been cancelled. Asking again changes nothing. 409 when it has ended, or when all that it does was sent; transfers between chains and revocations cannot be cancelled.",
    scope: "portfolios:write",
    tier: "general"
  })
)

const filter = {
  kind: Schema.optionalKey(OperationKind.annotate({ description: "Only of this kind.", examples: ["rebalance"] })),
  state: Schema.optionalKey(OperationState.annotate({ description: "Only in this state.", examples: ["completed"] })),
  since: Schema.optionalKey(utcFromText("what was submitted then or later is listed")),
  ...pageQuery
}

const items = page(
  Schema.Struct({ operations: Schema.Array(OperationItem).annotate({ description: "The page, newest first." }) })
)

const list = HttpApiEndpoint.get("listOperations", "/operations", {
  query: {
    portfolioId: Schema.optionalKey(PortfolioIdParam.annotate({ description: "Only of this portfolio." })),
    ...filter
  },
  success: items,
  error: CursorInvalid
}).annotateMerge(
  operation({
    id: "listOperations",
    summary: "List operations",
    description:
      "What was done for the tenant's portfolios, scheduled runs included, newest first. `state=awaiting_user`: those that wait for a signature of an owner.",
    scope: "portfolios:read",
    tier: "general"
  })
)

const listOfPortfolio = HttpApiEndpoint.get("listPortfolioOperations", "/portfolios/:portfolioId/operations", {
  params: { portfolioId: PortfolioIdParam },
  query: filter,
  success: items,
  error: [CursorInvalid, NotFound]
}).annotateMerge(
  operation({
    id: "listPortfolioOperations",
    summary: "List a portfolio's operations",
    description: "What was done for one portfolio, scheduled runs included, newest first.",
    scope: "portfolios:read",
    tier: "general"
  })
)

export const Operations = HttpApiGroup.make("operations")
  .annotate(OpenApi.Title, "Operations")
  .annotate(OpenApi.Description, "Asynchronous work on a portfolio, tracked by polling, and what became of it.")
  .add(get, cancel, listOfPortfolio, list)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .prefix("/v2")

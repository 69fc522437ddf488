/**
 * Contract: calls of a portfolio's account, outside of `/v1/` as legacy clients use them. Source: interface "Legacy v1
 * REST routes".
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { okV1 } from "#http/v1/envelopeV1.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { ErrorsV1 } from "#http/middleware/ErrorsV1.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { ExecuteBody, Executed, ExecuteStatus } from "#http/v1/execution/ExecuteModel.ts"
import { OperationIdParam, PortfolioIdParam } from "#http/values/values.ts"
import { operation } from "#http/openapi/operation.ts"
import {
  CallsRefused,
  Internal,
  NotFound,
  PermissionDenied,
  PortfolioNotFound,
  ReplayMismatch
} from "#http/wireErrors.ts"

const dryRun = Schema.Literals(["true", "false"]).annotate({
  description: "`true`: simulate with gas estimate and trace, and send nothing. `false` when left out.",
  examples: ["true"]
})

const execute = HttpApiEndpoint.post("execute", "/portfolio/:portfolioId/execute", {
  params: { portfolioId: PortfolioIdParam },
  query: { dryRun: Schema.optionalKey(dryRun) },
  payload: ExecuteBody,
  success: okV1(Executed),
  error: [PortfolioNotFound, PermissionDenied, ReplayMismatch, CallsRefused, Internal]
}).annotateMerge(
  operation({
    id: "execute",
    summary: "Execute calls",
    description:
      "Carries calls of the portfolio's account out on a chain, together or not at all, once they succeed in simulation. The trade guard decides which calls the agent may make: an exact allowance for the guard, its trades and transfers, tighter limits, a withdrawal that the owner signed. Poll the status every 2 to 5 seconds.",
    scope: "portfolios:write",
    tier: "critical"
  })
)

const status = HttpApiEndpoint.get("executeStatus", "/portfolio/:portfolioId/execute/status/:executionId", {
  params: { portfolioId: PortfolioIdParam, executionId: OperationIdParam },
  success: okV1(ExecuteStatus),
  error: NotFound
}).annotateMerge(
  operation({
    id: "executeStatus",
    summary: "Get the status of an execution",
    description: "What became of calls that were executed, with the transaction and what moved.",
    scope: "portfolios:read",
    tier: "burst"
  })
)

export const Execute = HttpApiGroup.make("execute")
  .annotate(OpenApi.Title, "Calls of accounts")
  .annotate(OpenApi.Description, "Legacy routes: an integrator's own calls, within what the trade guard allows.")
  .add(execute, status)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .middleware(ErrorsV1)

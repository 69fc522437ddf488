/** The v1 routes for integrators as one value, beside the operator's (http/admin). Errors are in the v1 envelope. */
import { HttpApi, OpenApi } from "effect/http-api"
import { describedParsing } from "#domain/errors/describeIssue.ts"
import { Automation } from "#http/v1/automation/Automation.ts"
import { Execute } from "#http/v1/execution/Execute.ts"
import { Executions } from "#http/v1/Executions.ts"
import { Signatures } from "#http/v1/signature/Signatures.ts"
import { finishV1 } from "#http/v1/openapi/finishV1.ts"

export const V1 = HttpApi.make("v1")
  .add(Automation)
  .add(Signatures)
  .add(Execute)
  .add(Executions)
  .annotateMerge(
    OpenApi.annotations({
      title: "Ballast API v1",
      version: "1.0.0",
      summary: "Events of operations, and legacy routes",
      description:
        "Events of operations as they happen, and the routes of legacy clients over the portfolios of v2. Keys, scopes, limits and error codes are those of v2; an error contains the tracing ids in its body too.",
      license: { name: "Proprietary", url: "https://ballast.example/license" },
      servers: [
        { url: "https://api.ballast.example", description: "A deployment; each publishes its own address here" }
      ],
      transform: finishV1
    })
  )
  .annotate(HttpApi.ParseOptions, { errors: "all" })
  .annotate(HttpApi.PayloadParseOptions, { ...describedParsing, onExcessProperty: "error" })

/**
 * The integrator API as one value. Routes, validation, OpenAPI, llms.txt, typed clients and the authorization tests all
 * derive from it.
 */
import { HttpApi, OpenApi } from "effect/http-api"
import { Activation } from "#http/v2/Activation.ts"
import { Assets } from "#http/v2/Assets.ts"
import { Discovery } from "#http/v2/Discovery.ts"
import { Enrollment } from "#http/v2/Enrollment.ts"
import { Identity } from "#http/v2/Identity.ts"
import { Meta } from "#http/v2/Meta.ts"
import { finishDocument } from "#http/v2/openapi/finishDocument.ts"
import { Operations } from "#http/v2/Operations.ts"
import { Performance } from "#http/v2/Performance.ts"
import { Portfolios } from "#http/v2/Portfolios.ts"
import { Strategies } from "#http/v2/Strategies.ts"
import { StrategyConfiguration } from "#http/v2/StrategyConfiguration.ts"
import { Tenant } from "#http/v2/Tenant.ts"
import { Withdrawals } from "#http/v2/Withdrawals.ts"

const groups = [
  Meta,
  Discovery,
  Strategies,
  StrategyConfiguration,
  Tenant,
  Enrollment,
  Activation,
  Portfolios,
  Operations,
  Performance,
  Assets,
  Withdrawals
] as const

/** What is served as HttpApi; `whoami` is served beside it (answerDirectly.ts). */
export const Served = HttpApi.make("v2").add(...groups)

export const V2 = HttpApi.make("v2")
  .add(Identity, ...groups)
  .annotateMerge(
    OpenApi.annotations({
      title: "Ballast API",
      version: "2.0.0",
      summary: "Portfolio automation for integrators",
      description: [
        "Keeps users' multi-chain portfolios on target. A strategy is a template of target weights; a portfolio links one user to one strategy and has one smart account a chain.",
        "Every answer but the descriptions themselves is in the envelope `{success, data}` or `{success, error {code, message, details}}`; `details` name fields as `field: reason`. Tracing ids are in the headers `X-Correlation-Id` (quote it in reports) and `X-Request-Id`.",
        "Identifiers of accounts and assets are CAIP strings. Amounts, prices and values are decimal strings. Lists are paged with `limit` and the opaque `cursor`. Bodies are strict: an unknown key is refused."
      ].join("\n\n"),
      license: { name: "Proprietary", url: "https://ballast.example/license" },
      servers: [
        { url: "https://api.ballast.example", description: "A deployment; each publishes its own address here" }
      ],
      transform: finishDocument
    })
  )
  .annotate(HttpApi.ParseOptions, { errors: "all" })
  .annotate(HttpApi.PayloadParseOptions, { errors: "all", onExcessProperty: "error" })
  .annotate(HttpApi.SuccessParseOptions, {})
  .annotate(HttpApi.HeadersParseOptions, {})

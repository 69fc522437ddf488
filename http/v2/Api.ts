/**
 * The integrator API as one value. Routes, validation, OpenAPI, llms.txt, typed clients and the authorization tests all
 * derive from it.
 */
import { HttpApi, OpenApi } from "effect/http-api"
import { describedParsing } from "#domain/errors/describeIssue.ts"
import { Activation } from "#http/v2/enrollment/Activation.ts"
import { Assets } from "#http/v2/asset/Assets.ts"
import { Backtests } from "#http/v2/backtest/Backtests.ts"
import { Chains } from "#http/v2/chain/Chains.ts"
import { Discovery } from "#http/v2/discovery/Discovery.ts"
import { Enrollment } from "#http/v2/enrollment/Enrollment.ts"
import { Renewal } from "#http/v2/enrollment/Renewal.ts"
import { Requests } from "#http/v2/request/Requests.ts"
import { Revocation } from "#http/v2/revocation/Revocation.ts"
import { Events } from "#http/v2/event/Events.ts"
import { Identity } from "#http/v2/tenant/Identity.ts"
import { Meta } from "#http/v2/meta/Meta.ts"
import { finishIdempotency } from "#http/openapi/finishIdempotency.ts"
import { finishFrames } from "#http/openapi/finishFrames.ts"
import { finishDocument } from "#http/openapi/finishDocument.ts"
import { MirrorTerms } from "#http/v2/strategy/MirrorTerms.ts"
import { Operations } from "#http/v2/portfolio/Operations.ts"
import { Performance } from "#http/v2/performance/Performance.ts"
import { Policy } from "#http/v2/policy/Policy.ts"
import { Portfolios } from "#http/v2/portfolio/Portfolios.ts"
import { Strategies } from "#http/v2/strategy/Strategies.ts"
import { StrategyConfiguration } from "#http/v2/strategy/StrategyConfiguration.ts"
import { Tenant } from "#http/v2/tenant/Tenant.ts"
import { Webhooks } from "#http/v2/webhook/Webhooks.ts"
import { Withdrawals } from "#http/v2/withdrawal/Withdrawals.ts"

const groups = [
  Identity,
  Meta,
  Discovery,
  Strategies,
  StrategyConfiguration,
  MirrorTerms,
  Backtests,
  Tenant,
  Enrollment,
  Activation,
  Renewal,
  Revocation,
  Portfolios,
  Policy,
  Operations,
  Events,
  Webhooks,
  Requests,
  Performance,
  Chains,
  Assets,
  Withdrawals
] as const

const finishV2 = (generated: Record<string, unknown>) => {
  finishIdempotency(generated, Served)
  finishDocument(generated)
  finishFrames(generated, { schema: "TenantEvent", id: "eventId", event: "type" })
  return generated
}

/** What is served; the document is derived from the same groups below. */
export const Served = HttpApi.make("v2").add(...groups)

export const V2 = HttpApi.make("v2")
  .add(...groups)
  .annotateMerge(
    OpenApi.annotations({
      title: "Ballast API",
      version: "2.0.0",
      summary: "Portfolio automation for integrators",
      description: [
        "Keeps users' multi-chain portfolios on target. A strategy is a template of target weights; a portfolio links one user to one strategy and has one smart account a chain.",
        "Every answer but the descriptions themselves is in the envelope `{success, data}` or `{success, error {code, message, details}}`; `details` name fields as `field: reason`. Tracing ids are in the headers `X-Correlation-Id` (quote it in reports) and `X-Request-Id`.",
        "Identifiers of accounts and assets are CAIP strings. Amounts, prices and values are decimal strings. Lists are paged with `limit` and the opaque `cursor`. Bodies and queries are strict: an unknown key or name is refused."
      ].join("\n\n"),
      license: { name: "Proprietary", url: "https://ballast.example/license" },
      servers: [
        { url: "https://api.ballast.example", description: "A deployment; each publishes its own address here" }
      ],
      transform: finishV2
    })
  )
  .annotate(HttpApi.ParseOptions, { errors: "all" })
  .annotate(HttpApi.PayloadParseOptions, { ...describedParsing, onExcessProperty: "error" })
  .annotate(HttpApi.SuccessParseOptions, {})
  .annotate(HttpApi.HeadersParseOptions, {})

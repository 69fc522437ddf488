/** The routes of the integrator API. */
import { Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Enrollments } from "#domain/enrollment/Enrollments.ts"
import { Operations } from "#domain/operation/Operations.ts"
import { Portfolios } from "#domain/portfolio/Portfolios.ts"
import { PositionReader } from "#domain/portfolio/PositionReader.ts"
import { Rebalances } from "#domain/rebalance/Rebalances.ts"
import { Strategies } from "#domain/strategy/Strategies.ts"
import { buildWith } from "#http/buildWith.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { ApiKeyAuthLive } from "#http/middleware/ApiKeyAuthLive.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { EndpointLimitLive } from "#http/middleware/EndpointLimitLive.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { RequestErrorsLive } from "#http/middleware/RequestErrorsLive.ts"
import { V2 } from "#http/v2/Api.ts"
import { EnrollmentLive } from "#http/v2/EnrollmentLive.ts"
import { MetaLive } from "#http/v2/MetaLive.ts"
import { OperationsLive } from "#http/v2/OperationsLive.ts"
import { PortfoliosLive } from "#http/v2/PortfoliosLive.ts"
import { StrategiesLive } from "#http/v2/StrategiesLive.ts"

const groups = Layer.mergeAll(MetaLive, StrategiesLive, EnrollmentLive, PortfoliosLive, OperationsLive).pipe(
  buildWith(
    ApiKeyAuth,
    EndpointLimit,
    RequestErrors,
    Strategies,
    Enrollments,
    Portfolios,
    PositionReader,
    Rebalances,
    Operations
  )
)
const middlewares = Layer.mergeAll(ApiKeyAuthLive, EndpointLimitLive, RequestErrorsLive)

export const V2Live = HttpApiBuilder.layer(V2).pipe(Layer.provide(groups), Layer.provide(middlewares))

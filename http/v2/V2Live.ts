/** The routes of the integrator API. */
import { Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ApiKeyAuthLive } from "#http/middleware/ApiKeyAuthLive.ts"
import { EndpointLimitLive } from "#http/middleware/EndpointLimitLive.ts"
import { RequestErrorsLive } from "#http/middleware/RequestErrorsLive.ts"
import { V2 } from "#http/v2/Api.ts"
import { EnrollmentLive } from "#http/v2/EnrollmentLive.ts"
import { MetaLive } from "#http/v2/MetaLive.ts"
import { OperationsLive } from "#http/v2/OperationsLive.ts"
import { PortfoliosLive } from "#http/v2/PortfoliosLive.ts"
import { StrategiesLive } from "#http/v2/StrategiesLive.ts"

const groups = Layer.mergeAll(MetaLive, StrategiesLive, EnrollmentLive, PortfoliosLive, OperationsLive)
const middlewares = Layer.mergeAll(ApiKeyAuthLive, EndpointLimitLive, RequestErrorsLive)

export const V2Live = HttpApiBuilder.layer(V2).pipe(Layer.provide(groups), Layer.provide(middlewares))

/** The v1 routes for integrators. */
import { Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Executions } from "#domain/execution/Executions.ts"
import { buildWith } from "#http/buildWith.ts"
import { ShutdownState } from "#http/ShutdownState.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { ApiKeyAuthLive } from "#http/middleware/ApiKeyAuthLive.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { EndpointLimitLive } from "#http/middleware/EndpointLimitLive.ts"
import { ErrorsV1 } from "#http/middleware/ErrorsV1.ts"
import { ErrorsV1Live } from "#http/middleware/ErrorsV1Live.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { RequestErrorsLive } from "#http/middleware/RequestErrorsLive.ts"
import { V1 } from "#http/v1/Api.ts"
import { ExecutionsLive } from "#http/v1/ExecutionsLive.ts"
import { StreamTiming } from "#http/v1/StreamTiming.ts"

export const V1Live = HttpApiBuilder.layer(V1).pipe(
  Layer.provide(
    ExecutionsLive.pipe(
      buildWith(ApiKeyAuth, EndpointLimit, ErrorsV1, RequestErrors, Executions, ShutdownState, StreamTiming)
    )
  ),
  Layer.provide(Layer.mergeAll(ApiKeyAuthLive, EndpointLimitLive, ErrorsV1Live, RequestErrorsLive))
)

/** The v1 routes for integrators. */
import { Layer } from "effect"
import { Executions } from "#domain/execution/Executions.ts"
import { buildWith } from "#domain/effects/buildWith.ts"
import { serveGroups } from "#http/serveGroups.ts"
import { ShutdownState } from "#http/ShutdownState.ts"
import { ApiKeyAuthLive } from "#http/middleware/ApiKeyAuthLive.ts"
import { EndpointLimitLive } from "#http/middleware/EndpointLimitLive.ts"
import { ErrorsV1 } from "#http/middleware/ErrorsV1.ts"
import { ErrorsV1Live } from "#http/middleware/ErrorsV1Live.ts"
import { ExecutionAuth } from "#http/middleware/ExecutionAuth.ts"
import { ExecutionAuthLive } from "#http/middleware/ExecutionAuthLive.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { RequestErrorsLive } from "#http/middleware/RequestErrorsLive.ts"
import { V1 } from "#http/v1/Api.ts"
import { AutomationLive } from "#http/v1/automation/AutomationLive.ts"
import { ExecuteLive } from "#http/v1/execution/ExecuteLive.ts"
import { ExecutionsLive } from "#http/v1/ExecutionsLive.ts"
import { SignaturesLive } from "#http/v1/signature/SignaturesLive.ts"
import { StreamTiming } from "#http/streaming/StreamTiming.ts"

export const V1Live = serveGroups(V1, {
  // Streams are open in great number; the legacy routes are called seldom, and need the request's own context.
  executions: ExecutionsLive.pipe(
    buildWith(ExecutionAuth, ErrorsV1, RequestErrors, Executions, ShutdownState, StreamTiming)
  ),
  automation: AutomationLive,
  signatures: SignaturesLive,
  execute: ExecuteLive
}).pipe(
  Layer.provide(Layer.mergeAll(ApiKeyAuthLive, EndpointLimitLive, ErrorsV1Live, ExecutionAuthLive, RequestErrorsLive))
)

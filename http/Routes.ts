/**
 * All routes of the API process as one layer, for the server and for tests without a socket.
 *
 * Needs the domain's services, RateLimits, ShutdownState, OperatorToken, DocsSettings, Liveness, Readiness,
 * SecureRandom and the platform services of an HttpServer. Whatever runs the routes must stand in ServerContext, as
 * ServeRoutes does.
 */
import { Layer } from "effect"
import { AdminLive } from "#http/admin/AdminLive.ts"
import { DocsLive } from "#http/docs/DocsLive.ts"
import { HealthLive } from "#http/health/HealthLive.ts"
import { McpLive } from "#http/mcp/McpLive.ts"
import { RequestContextLive } from "#http/serving/RequestContextLive.ts"
import { RequestIds } from "#http/serving/RequestIds.ts"
import { RequestLog } from "#http/serving/RequestLog.ts"
import { V1Live } from "#http/v1/V1Live.ts"
import { V2Live } from "#http/v2/V2Live.ts"
import { FaultReporter } from "#http/serving/faultReporter.ts"
import { SpanNames } from "#http/serving/spanNames.ts"
import { MaxBody } from "#http/routerSettings.ts"

/**
 * What the server itself needs around it, and not only the routes: it names spans and reports faults before and after
 * them.
 */
export const ServerContext = Layer.mergeAll(FaultReporter, SpanNames, MaxBody)

export const Routes = Layer.mergeAll(V2Live, V1Live, AdminLive, DocsLive, HealthLive, McpLive).pipe(
  Layer.provide(RequestContextLive),
  Layer.provide(Layer.mergeAll(RequestIds.layer, RequestLog.layer))
)

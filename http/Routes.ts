/**
 * All routes of the API process as one layer, for the server and for tests without a socket.
 *
 * Needs the domain's services, the settings (RateLimitSettings, AdminSettings, DocsSettings), Readiness, SecureRandom and
 * the platform services of an HttpServer.
 */
import { Layer } from "effect"
import { AdminLive } from "#http/admin/AdminLive.ts"
import { DocsLive } from "#http/docs/DocsLive.ts"
import { HealthLive } from "#http/health/HealthLive.ts"
import { ExchangeLive } from "#http/middleware/ExchangeLive.ts"
import { FaultReporter } from "#http/middleware/faultReporter.ts"
import { RateLimits } from "#http/middleware/RateLimits.ts"
import { RequestIds } from "#http/middleware/RequestIds.ts"
import { RequestLog } from "#http/middleware/RequestLog.ts"
import { MaxBody } from "#http/routerSettings.ts"
import { V2Live } from "#http/v2/V2Live.ts"

export const Routes = Layer.mergeAll(V2Live, AdminLive, DocsLive, HealthLive).pipe(
  Layer.provide(ExchangeLive),
  Layer.provide(Layer.mergeAll(RateLimits.layerMemory, RequestIds.layer, RequestLog.layer)),
  Layer.provide(Layer.mergeAll(FaultReporter, MaxBody))
)

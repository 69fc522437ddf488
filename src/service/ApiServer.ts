/** Serves the routes over HTTP, and tells the command line where it does when the database is embedded. */
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { AdminSettings } from "#http/admin/AdminSettings.ts"
import { DocsSettings } from "#http/docs/DocsSettings.ts"
import { RateLimitSettings } from "#http/middleware/RateLimitSettings.ts"
import { ServeRoutes } from "#http/ServeRoutes.ts"
import type { ServiceConfig } from "#src/Config.ts"
import { requestLimits } from "#src/service/requestLimits.ts"
import { ServiceFile } from "#src/service/ServiceFile.ts"
import { startingServer } from "#src/service/startingServer.ts"

export const ApiServer = (config: ServiceConfig) => {
  const { host, port, publicUrl, trustedProxies } = config.server
  const settings = Layer.mergeAll(
    Layer.succeed(AdminSettings, { token: config.adminToken }),
    Layer.succeed(DocsSettings, { publicUrl }),
    requestLimits(config.redisUrl).pipe(Layer.provide(Layer.succeed(RateLimitSettings, config.rateLimits)))
  )
  const listening = Layer.effectDiscard(Effect.logInfo(`Listening on http://${host}:${port}`))
  return Layer.mergeAll(ServeRoutes(trustedProxies), listening).pipe(
    Layer.provide(settings),
    Layer.provide(ServiceFile(config)),
    Layer.provide(NodeHttpServer.layer(startingServer, { host, port, gracefulShutdownTimeout: "5 seconds" }))
  )
}

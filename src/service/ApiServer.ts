/** Serves the routes over HTTP, and tells the command line where it does when the database is embedded. */
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { AdminSettings } from "#http/admin/AdminSettings.ts"
import { DocsSettings } from "#http/docs/DocsSettings.ts"
import { RateLimitSettings } from "#http/middleware/RateLimitSettings.ts"
import { Routes } from "#http/Routes.ts"
import { routerConfig } from "#http/routerSettings.ts"
import { ServerContext } from "#http/ServerContext.ts"
import type { ServiceConfig } from "#src/Config.ts"
import { ServiceFile } from "#src/service/ServiceFile.ts"
import { startingServer } from "#src/service/startingServer.ts"

export const ApiServer = (config: ServiceConfig) => {
  const { host, port, publicUrl } = config.server
  const settings = Layer.mergeAll(
    Layer.succeed(RateLimitSettings, config.rateLimits),
    Layer.succeed(AdminSettings, { token: config.adminToken }),
    Layer.succeed(DocsSettings, { publicUrl })
  )
  const listening = Layer.effectDiscard(Effect.logInfo(`Listening on http://${host}:${port}`))
  return Layer.mergeAll(HttpRouter.serve(Routes, { disableLogger: true, disableListenLog: true, routerConfig }), listening).pipe(
    Layer.provide(ServerContext),
    Layer.provide(settings),
    Layer.provide(ServiceFile(config)),
    Layer.provide(NodeHttpServer.layer(startingServer, { host, port, gracefulShutdownTimeout: "5 seconds" }))
  )
}

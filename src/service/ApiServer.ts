/** Serves the routes over HTTP, and tells the command line where it does when the database is embedded. */
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { createServer } from "node:http"
import { AdminSettings } from "#http/admin/AdminSettings.ts"
import { DocsSettings } from "#http/docs/DocsSettings.ts"
import { FaultReporter } from "#http/middleware/faultReporter.ts"
import { RateLimitSettings } from "#http/middleware/RateLimitSettings.ts"
import { Routes } from "#http/Routes.ts"
import { routerConfig } from "#http/routerSettings.ts"
import type { ServiceConfig } from "#src/Config.ts"
import { ServiceFile } from "#src/service/ServiceFile.ts"

export const ApiServer = (config: ServiceConfig) => {
  const { host, port, publicUrl } = config.server
  const settings = Layer.mergeAll(
    Layer.succeed(RateLimitSettings, config.rateLimits),
    Layer.succeed(AdminSettings, { token: config.adminToken }),
    Layer.succeed(DocsSettings, { publicUrl })
  )
  const listening = Layer.effectDiscard(Effect.logInfo(`Listening on http://${host}:${port}`))
  return Layer.mergeAll(HttpRouter.serve(Routes, { disableLogger: true, disableListenLog: true, routerConfig }), listening).pipe(
    Layer.provide(FaultReporter),
    Layer.provide(settings),
    Layer.provide(ServiceFile(config)),
    Layer.provide(NodeHttpServer.layer(createServer, { host, port, gracefulShutdownTimeout: "5 seconds" }))
  )
}

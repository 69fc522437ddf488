/** Serves the routes over HTTP, and records the address for the command line when the database is embedded. */
import { NodeHttpServer, NodeServices } from "@effect/platform-node"
import { type Context, Duration, Effect, Layer, FileSystem, Path, Redacted } from "effect"
import { ExecutionReaders } from "#domain/execution/ExecutionReaders.ts"
import type { StreamAdmission } from "#domain/execution/StreamAdmission.ts"
import { InternalToken } from "#domain/stream/InternalToken.ts"
import { RegistryPush } from "#domain/stream/RegistryPush.ts"
import type { TenantOrigins } from "#domain/tenant/TenantOrigins.ts"
import type { ApiKeys } from "#domain/identity/ApiKeys.ts"
import { OperatorToken } from "#domain/identity/OperatorToken.ts"
import { AnswerSettings } from "#domain/request/AnswerSettings.ts"
import { RateLimitSettings } from "#domain/request/RateLimitSettings.ts"
import type { RateLimits } from "#domain/request/RateLimits.ts"
import { RequestSession } from "#domain/identity/access/RequestSession.ts"
import { SessionCookie } from "#domain/identity/access/SessionCookie.ts"
import { DocsSettings } from "#http/docs/DocsSettings.ts"
import { browserAccess } from "#http/serving/browserAccess.ts"
import { ServeRoutes } from "#http/ServeRoutes.ts"
import { PublicAssetsLive } from "#layers/catalogue/PublicAssetsLive.ts"
import { MarketDataStreamLive } from "#layers/stream/MarketDataStreamLive.ts"
import { addEnvelope } from "#http/envelopeTable.ts"
import { addRoute } from "#http/serving/routeTable.ts"
import { socketPlatform } from "#src/service/socketPlatform.ts"
import { socketOptions } from "#rpc/native/socketProtocol.ts"
import { procedureEnvelope } from "#rpc/jsonWire.ts"
import {
  belowProcedures,
  procedureDescriptions,
  procedureRoutes,
  ProcedureRoutes,
  type ProcedureServices
} from "#rpc/Procedures.ts"
import type { ServiceConfig } from "#src/Config.ts"
import { boundedConnections } from "#src/service/boundedConnections.ts"
import { listeningOn } from "#src/service/CannotListen.ts"
import { requestLimits } from "#src/service/requestLimits.ts"
import { startingServer } from "#src/service/startingServer.ts"

/** What decides which pages may read an answer. */
type PageServices = ApiKeys | TenantOrigins

/**
 * `DATA_DIR/service.json`: where the admin routes of a running service with an embedded database are, so that the
 * command line can call it while it holds the database. Readable by its user alone, removed when the service ends.
 */
const ServiceFile = ({ adminToken, database, server }: ServiceConfig) => {
  if (database.url !== null || adminToken === null) return Layer.empty
  const write = Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const path = (yield* Path.Path).join(database.dataDir, "service.json")
    const content = JSON.stringify({
      adminUrl: `http://127.0.0.1:${server.port}`,
      adminToken: Redacted.value(adminToken)
    })
    yield* Effect.acquireRelease(
      Effect.andThen(files.remove(path, { force: true }), files.writeFileString(path, content, { mode: 0o600 })),
      () => Effect.ignore(files.remove(path, { force: true }))
    )
  })
  return Layer.effectDiscard(write).pipe(Layer.provide(NodeServices.layer))
}

// Spans, wrong methods and errors of procedures are handled like those of all other routes.
for (const route of procedureRoutes) addRoute(...route)
addEnvelope(belowProcedures, procedureEnvelope)

/** What the routes have for their own answer to a request that is late, and a client for taking one. */
const timeToTake = Duration.seconds(15)

export const ApiServer = (config: ServiceConfig) => {
  const { answers, host, maxConnectionsPerAddress, port, publicUrl, trustedProxies } = config.server
  const settings = Layer.mergeAll(
    OperatorToken.layer(config.adminToken),
    Layer.succeed(DocsSettings, { publicUrl }),
    requestLimits(config.redisUrl).pipe(Layer.provide(Layer.succeed(RateLimitSettings, config.rateLimits)))
  )
  const listening = Layer.effectDiscard(Effect.logInfo(`Listening on http://${host}:${port}`))
  const stream = MarketDataStreamLive(config.streamUrl).pipe(
    Layer.provide(Layer.succeed(InternalToken, config.internalToken))
  )
  const cookie = Layer.succeed(SessionCookie, { isSecure: publicUrl.startsWith("https:") })
  const readers = ExecutionReaders.layer.pipe(Layer.provide(RequestSession.layer), Layer.provide(cookie))
  const procedures = ProcedureRoutes.pipe(
    Layer.provide([stream, OperatorToken.layer(config.adminToken), cookie, socketPlatform]),
    Layer.merge(browserAccess(config.appOrigins))
  )
  const push = config.streamUrl === null ? Layer.empty : RegistryPush.pipe(Layer.provide(PublicAssetsLive))
  const routes = Layer.unwrap(
    Effect.contextWith((context: Context.Context<ProcedureServices | RateLimits | StreamAdmission | PageServices>) =>
      Effect.succeed(ServeRoutes(trustedProxies, procedures.pipe(Layer.provide(Layer.succeedContext(context)))))
    )
  )
  const bounds = {
    maxPerAddress: maxConnectionsPerAddress,
    trustedProxies,
    longestAnswer: Duration.sum(answers.longest, timeToTake)
  }
  const listener = () => boundedConnections(startingServer(config.server)(), bounds)
  return Layer.mergeAll(push, routes, listening).pipe(
    Layer.provide(stream),
    Layer.provide(Layer.succeed(AnswerSettings, answers)),
    Layer.provide([readers, procedureDescriptions]),
    Layer.provide(settings),
    Layer.provide(ServiceFile(config)),
    Layer.provide(
      NodeHttpServer.layer(listener, {
        host,
        port,
        gracefulShutdownTimeout: "5 seconds",
        websocket: socketOptions
      }).pipe(listeningOn({ host, port }))
    )
  )
}

/**
 * The API process: REST, the rebalance engine and its scheduler. Configured by environment alone (docs/operations.md).
 */
import "effect/schema/SchemaJITCompiler/enable"
import "#src/service/heapSettings.ts"
import { Effect, Layer } from "effect"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import { enoughConnections } from "#layers/sql/enoughConnections.ts"
import { serviceConfig } from "#src/Config.ts"
import { ApiServer } from "#src/service/ApiServer.ts"
import { sayingWhyNoConnection } from "#src/service/NoConnection.ts"
import { Platform } from "#src/service/Platform.ts"
import { runProcess } from "#src/service/runProcess.ts"
import { Service } from "#src/service/Service.ts"

const program = Effect.gen(function* () {
  const config = yield* serviceConfig
  const server = ApiServer(config).pipe(Layer.provide(Service), Layer.provide(Platform(config)))
  return yield* enoughConnections.pipe(
    Effect.provideService(DatabaseConfig, config.database),
    Effect.andThen(Layer.launch(server)),
    sayingWhyNoConnection(config.database)
  )
})

runProcess("api", program)

/** What every layer of the service stands on: configuration, time, chance, telemetry and the migrated database. */
import { NodeCrypto } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { DatabaseClock } from "#layers/sql/DatabaseClock.ts"
import { RemoteClock } from "#layers/clock/RemoteClock.ts"
import * as Database from "#layers/sql/Database.ts"
import * as Migrations from "#layers/sql/Migrations.ts"
import { schemaState } from "#layers/sql/schemaState.ts"
import { Telemetry } from "#layers/telemetry/Telemetry.ts"
import * as Config from "#src/Config.ts"

/** A remote clock is that of the database connection as well. */
const RemoteClockLive = ({ clockUrl, server }: Config.ServiceConfig) =>
  clockUrl === null ? Layer.empty : RemoteClock.layer({ url: clockUrl, followerId: `api-${server.port}` })

/** Follows the database's clock where no remote one is set, for all that is built on the database. */
const DatabaseClockLive = ({ clockUrl }: Config.ServiceConfig) =>
  clockUrl === null ? DatabaseClock.layer : Layer.empty

/** An earlier release goes on with the schema of a later one, and logs a warning. */
const LaterSchemaWarning = Layer.effectDiscard(
  Effect.gen(function* () {
    const state = yield* schemaState
    if (state._tag === "Ahead")
      yield* Effect.logWarning(
        `A later release has migrated this database (${state.unknown.join(", ")}); docs/operations.md, "Upgrade and rollback"`
      )
  })
)

export const Platform = (config: Config.ServiceConfig) =>
  LaterSchemaWarning.pipe(
    Layer.provide(Migrations.layer),
    Layer.provideMerge(DatabaseClockLive(config)),
    Layer.provideMerge(Database.layer),
    Layer.provideMerge(Telemetry),
    Layer.provideMerge(Layer.mergeAll(Config.layer(config), NodeCrypto.layer)),
    Layer.provideMerge(RemoteClockLive(config))
  )

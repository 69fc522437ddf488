/** What every layer of the service stands on: configuration, time, chance, telemetry and the migrated database. */
import { NodeCrypto } from "@effect/platform-node"
import { Layer } from "effect"
import { DatabaseClock } from "#layers/sql/DatabaseClock.ts"
import { RemoteClock } from "#layers/clock/RemoteClock.ts"
import * as Database from "#layers/sql/Database.ts"
import * as Migrations from "#layers/sql/Migrations.ts"
import { requireReleasedSchema } from "#layers/sql/schemaState.ts"
import { Telemetry } from "#layers/telemetry/Telemetry.ts"
import * as Config from "#src/Config.ts"

/** A remote clock is that of the database connection as well. */
const RemoteClockLive = ({ clockUrl, server }: Config.ServiceConfig) =>
  clockUrl === null ? Layer.empty : RemoteClock.layer({ url: clockUrl, followerId: `api-${server.port}` })

/** Follows the database's clock where no remote one is set, for all that is built on the database. */
const DatabaseClockLive = ({ clockUrl }: Config.ServiceConfig) =>
  clockUrl === null ? DatabaseClock.layer : Layer.empty

export const Platform = (config: Config.ServiceConfig) =>
  Migrations.layer.pipe(
    // Before migrations: what was made before the first release has a record that they would go on with.
    Layer.provide(Layer.effectDiscard(requireReleasedSchema)),
    Layer.provideMerge(DatabaseClockLive(config)),
    Layer.provideMerge(Database.layer),
    Layer.provideMerge(Telemetry),
    Layer.provideMerge(Layer.mergeAll(Config.layer(config), NodeCrypto.layer)),
    Layer.provideMerge(RemoteClockLive(config))
  )

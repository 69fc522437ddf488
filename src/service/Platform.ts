/** What every layer of the service stands on: configuration, time, chance, telemetry and the migrated database. */
import { NodeCrypto } from "@effect/platform-node"
import { Layer } from "effect"
import { RemoteClock } from "#layers/clock/RemoteClock.ts"
import * as Database from "#layers/sql/Database.ts"
import * as Migrations from "#layers/sql/Migrations.ts"
import { Telemetry } from "#layers/telemetry/Telemetry.ts"
import * as Config from "#src/Config.ts"

const ClockLive = ({ clockUrl, server }: Config.ServiceConfig) =>
  clockUrl === null ? Layer.empty : RemoteClock.layer({ url: clockUrl, followerId: `api-${server.port}` })

export const Platform = (config: Config.ServiceConfig) =>
  Migrations.layer.pipe(
    Layer.provideMerge(Database.layer),
    Layer.provideMerge(Telemetry),
    Layer.provideMerge(Layer.mergeAll(Config.layer(config), NodeCrypto.layer)),
    Layer.provideMerge(ClockLive(config))
  )

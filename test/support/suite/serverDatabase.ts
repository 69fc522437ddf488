/** Databases on a PostgreSQL server, which are dropped when the scope closes. */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import * as Database from "#layers/sql/Database.ts"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import * as Migrations from "#layers/sql/Migrations.ts"

/** The URL of a new database on the server: a copy of the template, or an empty one without any. */
export const newDatabase = (server: string, template: string | null) =>
  Effect.gen(function* () {
    const admin = Context.get(
      yield* Layer.build(PgClient.layer({ url: Redacted.make(server), maxConnections: 1 })),
      SqlClient.SqlClient
    )
    const random = yield* SecureRandom.SecureRandom
    const name = `ballast_test_${(yield* random.ulid).toLowerCase()}`
    const create =
      template === null
        ? admin`CREATE DATABASE ${admin(name)}`
        : admin`CREATE DATABASE ${admin(name)} TEMPLATE ${admin(template)}`
    yield* Effect.acquireRelease(create, () => Effect.orDie(admin`DROP DATABASE ${admin(name)} WITH (FORCE)`))
    const own = new URL(server)
    own.pathname = `/${name}`
    return own.href
  }).pipe(Effect.provide(SecureRandom.layerWebCrypto))

/** The name of a new, migrated database on the server. */
export const newTemplate = (server: string) =>
  newDatabase(server, null).pipe(
    Effect.tap((url) =>
      Effect.scoped(
        Layer.build(
          Migrations.layer.pipe(
            Layer.provide(Database.layer),
            Layer.provide(Layer.succeed(DatabaseConfig, { url: Redacted.make(url), dataDir: "", maxConnections: 2 }))
          )
        )
      )
    ),
    Effect.map((url) => new URL(url).pathname.slice(1))
  )

/** A migrated database of the run's own on the server of `BENCH_DATABASE_URL`; dropped when the scope closes. */
import { PgClient } from "@effect/sql-pg"
import { Config, Context, Effect, Layer, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import * as Database from "#layers/sql/Database.ts"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import * as Migrations from "#layers/sql/Migrations.ts"

const defaultServer = "postgres://postgres@127.0.0.1:5432/postgres"

/** Connections that the service and each peer may open. */
export const poolSize = 10

/** Nothing to measure on; the benchmark is skipped. */
export class NoServer extends Schema.TaggedError<NoServer>()("NoServer", { message: Schema.String }) {}

const configOf = (url: string) => ({ url: Redacted.make(url), dataDir: "", maxConnections: poolSize })

/** The stores' database layer on that URL; its schema must be there already. */
export const databaseLayer = (url: string) =>
  Database.layer.pipe(Layer.provide(Layer.succeed(DatabaseConfig, configOf(url))))

const connect = (url: string) =>
  Effect.gen(function* () {
    const context = yield* Layer.build(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))
    const sql = Context.get(context, SqlClient.SqlClient)
    yield* sql`SELECT 1`
    return sql
  }).pipe(
    Effect.mapError(
      () =>
        new NoServer({
          message: `no PostgreSQL answers at ${new URL(url).host}; start one, or set BENCH_DATABASE_URL to the URL of one where databases may be created`
        })
    )
  )

/** The URL of the new database. */
export const benchDatabase = Effect.gen(function* () {
  const server = yield* Config.withDefault(Config.String("BENCH_DATABASE_URL"), defaultServer)
  const admin = yield* connect(server)
  const random = yield* SecureRandom.SecureRandom
  const name = `ballast_bench_${(yield* random.ulid).toLowerCase()}`
  yield* Effect.acquireRelease(admin`CREATE DATABASE ${admin(name)}`, () =>
    Effect.orDie(admin`DROP DATABASE ${admin(name)} WITH (FORCE)`)
  )
  const own = new URL(server)
  own.pathname = `/${name}`
  yield* Effect.scoped(Layer.build(Migrations.layer.pipe(Layer.provide(databaseLayer(own.href)))))
  return own.href
}).pipe(Effect.provide(SecureRandom.layerWebCrypto))

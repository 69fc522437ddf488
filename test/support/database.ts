/**
 * Databases for tests. `TestDatabase` is a fresh embedded one; with `TEST_DATABASE_URL` set, `ServerDatabase` is a
 * fresh one on that PostgreSQL server. Both are migrated, private to whoever builds the layer, and removed afterwards.
 */
import { it, layer, type Vitest } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { constants } from "node:fs"
import { cp, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inject } from "vitest"
import * as Database from "#layers/sql/Database.ts"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import { SqlLive } from "#layers/sql/SqlLive.ts"
import { newDatabase } from "#test/support/suite/serverDatabase.ts"

/** A data directory with a copy of the run's migrated database, until the scope closes. */
export const copyOfTemplate = Effect.acquireRelease(
  Effect.promise(async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "ballast-test-"))
    await cp(inject("templateDataDir"), dataDir, { recursive: true, mode: constants.COPYFILE_FICLONE })
    return dataDir
  }),
  (dataDir) => Effect.promise(() => rm(dataDir, { recursive: true, force: true }))
)

/** A fresh embedded database; provides SqlClient, PgClient and DatabaseInfo. */
export const TestDatabase = Layer.unwrap(
  Effect.map(copyOfTemplate, (dataDir) =>
    Database.layer.pipe(Layer.provide(Layer.succeed(DatabaseConfig, { url: null, dataDir, maxConnections: 1 })))
  )
)

const serverUrl = process.env["TEST_DATABASE_URL"]

/** The URL of a fresh database on that server that nobody has written to; undefined without a server. */
export const emptyServerDatabase = serverUrl === undefined ? undefined : newDatabase(serverUrl, null)

/** The URL of a fresh, migrated database on that server, for processes of a test; undefined without a server. */
export const newServerDatabase =
  serverUrl === undefined ? undefined : Effect.suspend(() => newDatabase(serverUrl, inject("serverTemplate")))

/** A fresh database on the server of `TEST_DATABASE_URL`; undefined when that is not set. */
export const ServerDatabase =
  newServerDatabase === undefined
    ? undefined
    : Layer.unwrap(
        Effect.map(newServerDatabase, (url) =>
          Database.layer.pipe(
            Layer.provide(Layer.succeed(DatabaseConfig, { url: Redacted.make(url), dataDir: "", maxConnections: 10 }))
          )
        )
      )

const withStores = <A, E>(database: Layer.Layer<A | SqlClient.SqlClient, E>) =>
  SqlLive.pipe(Layer.provideMerge(database), Layer.provideMerge(SecureRandom.layerWebCrypto))

/** Layer like TestStores over a migrated database of that URL, for processes of a test that share it. */
export const storesOn = (url: string): typeof TestStores =>
  withStores(
    Database.layer.pipe(
      Layer.provide(Layer.succeed(DatabaseConfig, { url: Redacted.make(url), dataDir: "", maxConnections: 4 }))
    )
  )

/** Embedded database, all stores, and secure randomness; provides SqlClient, PgClient and DatabaseInfo too. */
export const TestStores = withStores(TestDatabase)

/**
 * Runs a suite on the embedded database in `npm test`, and on a PostgreSQL server in `npm run test:long`. With
 * `TEST_DATABASE_URL` set, `npm test` runs it on both.
 */
export const eachDatabase = (
  name: string,
  suite: (it: Vitest.MethodsNonLive<Layer.Success<typeof TestStores>>) => void
): void => onEachDatabase(name, (stores) => stores, suite)

/** Runs a suite over something that is made of stores, on each database. */
export const onEachDatabase = <A, E>(
  name: string,
  over: (stores: typeof TestStores) => Layer.Layer<A, E>,
  suite: (it: Vitest.MethodsNonLive<A>) => void
): void => {
  const isLong = inject("suite") === "long"
  if (!isLong) layer(over(TestStores), { excludeTestServices: true })(`${name} on PGlite`, suite)
  if (ServerDatabase !== undefined)
    layer(over(Layer.orDie(withStores(ServerDatabase))), { excludeTestServices: true })(`${name} on PostgreSQL`, suite)
  else if (isLong) it.skip(`${name} on PostgreSQL: skipped because TEST_DATABASE_URL is not set`, () => {})
}

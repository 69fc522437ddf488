/**
 * The service's database for the command line, which neither makes one nor migrates it: what a mistaken DATA_DIR or
 * DATABASE_URL names is reported as such, and stays as it was.
 */
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { Effect, Layer, Result } from "effect"
import { DatabaseClock } from "#layers/sql/DatabaseClock.ts"
import * as Database from "#layers/sql/Database.ts"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import { type SchemaState, schemaState } from "#layers/sql/schemaState.ts"
import { AdminFailed } from "#src/cli/TenantAdmin.ts"

type DatabaseLocation = DatabaseConfig["Service"]

/** Where the database is, without its password. */
const locationOf = ({ dataDir, url }: DatabaseLocation): string =>
  url === null ? `the embedded database in DATA_DIR, ${resolve(dataDir)}` : "the database of DATABASE_URL"

const several = (names: ReadonlyArray<string>): string =>
  names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ")

/** Why a database is not worked on. */
export interface Unusable {
  /** A sentence without its full stop. */
  readonly detail: string
  readonly toDo: string
}

const elsewhere =
  "Set DATABASE_URL, or DATA_DIR, as the service has it; a new database is made by starting the service."

/** The latest migration of a database that is the service's, of this release. */
export const latestIn = (location: DatabaseLocation, state: SchemaState): Result.Result<string, Unusable> => {
  switch (state._tag) {
    case "Foreign":
      return Result.fail({
        detail:
          `There is no service's data in ${locationOf(location)}: ` +
          (state.tables === 0 ? "it is empty" : `its ${state.tables} tables are not the service's`),
        toDo: elsewhere
      })
    case "Behind":
      return Result.fail({
        detail: `The schema of ${locationOf(location)} is that of an earlier release: ${several(state.pending)} are missing`,
        toDo: "Start this release of the service first, which migrates it, or use the command line of that release."
      })
    case "Ahead":
      return Result.fail({
        detail: `A later release has migrated ${locationOf(location)}: ${several(state.unknown)} are not known here`,
        toDo: "Use the command line of the release that runs."
      })
    case "Unreleased":
      return Result.fail({
        detail: `The schema of ${locationOf(location)} is of no release: its record has ${state.found} where releases have ${state.expected}`,
        toDo: "Begin with an empty database: what was made before release 0.1.0 cannot be migrated."
      })
    case "Current":
      return Result.succeed(state.latest)
  }
}

/** Checks the folder: without it there is no embedded database, and opening it would make one. */
const missing = ({ dataDir, url }: DatabaseLocation): boolean =>
  url === null && !existsSync(resolve(dataDir, "postgres", "PG_VERSION"))

/** Why no database was opened: there is none. */
export const absenceOf = (location: DatabaseLocation): Unusable | null =>
  missing(location)
    ? {
        detail: `There is no database in DATA_DIR, ${resolve(location.dataDir)}`,
        toDo: elsewhere
      }
    : null

const refuse = ({ detail, toDo }: Unusable) => new AdminFailed({ reason: `${detail}. ${toDo}` })

const own = (location: DatabaseLocation) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const latest = latestIn(location, yield* Effect.orDie(schemaState))
      if (Result.isFailure(latest)) return yield* refuse(latest.failure)
    })
  )

/** Fails with `AdminFailed` unless the database is the service's and of this release. */
export const serviceDatabase = (location: DatabaseLocation) => {
  const absent = absenceOf(location)
  const opened = Database.layer.pipe(Layer.provide(Layer.succeed(DatabaseConfig, location)))
  const checked = own(location).pipe(Layer.provideMerge(DatabaseClock.layer), Layer.provideMerge(opened))
  return absent === null ? checked : Layer.unwrap(Effect.as(Effect.fail(refuse(absent)), checked))
}

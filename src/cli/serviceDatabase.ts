/**
 * The service's database for the command line, which neither makes one nor migrates it: what a mistaken DATA_DIR or
 * DATABASE_URL names is told as such, and stays as it was.
 */
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { Effect, Layer } from "effect"
import * as Database from "#layers/sql/Database.ts"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import { type SchemaState, schemaState } from "#layers/sql/schemaState.ts"
import { AdminFailed } from "#src/cli/TenantAdmin.ts"

type Place = DatabaseConfig["Service"]

/** Where the database is, without its password. */
const placeOf = ({ dataDir, url }: Place): string =>
  url === null ? `the embedded database in DATA_DIR, ${resolve(dataDir)}` : "the database of DATABASE_URL"

const several = (names: ReadonlyArray<string>): string =>
  names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ")

/** What is wrong with a database, and what to do about it; each a sentence. */
export interface DatabaseProblem {
  readonly detail: string
  readonly toDo: string
}

const elsewhere =
  "Set DATABASE_URL, or DATA_DIR, as the service has it; a new database is made by starting the service."

/** Null when the database is the service's, of this release. */
export const problemOf = (place: Place, state: SchemaState): DatabaseProblem | null => {
  const where = placeOf(place)
  switch (state._tag) {
    case "Foreign": {
      const what = state.tables === 0 ? "it is empty" : `its ${state.tables} tables are not the service's`
      return { detail: `There is no service's data in ${where}: ${what}.`, toDo: elsewhere }
    }
    case "Behind":
      return {
        detail: `The schema of ${where} is that of an earlier release: ${several(state.pending)} are missing.`,
        toDo: "Start this release of the service first, which migrates it, or use the command line of that release."
      }
    case "Ahead":
      return {
        detail: `A later release has migrated ${where}: ${several(state.unknown)} are not known here.`,
        toDo: "Use the command line of the release that runs."
      }
    case "Current":
      return null
  }
}

/** Opening an embedded database that is not there would make one. Null when there is one to open. */
export const absenceOf = ({ dataDir, url }: Place): DatabaseProblem | null =>
  url !== null || existsSync(resolve(dataDir, "postgres", "PG_VERSION"))
    ? null
    : { detail: `There is no database in DATA_DIR, ${resolve(dataDir)}.`, toDo: elsewhere }

const failedBy = ({ detail, toDo }: DatabaseProblem) => new AdminFailed({ reason: `${detail} ${toDo}` })

const own = (place: Place) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const problem = problemOf(place, yield* Effect.orDie(schemaState))
      if (problem !== null) return yield* failedBy(problem)
    })
  )

/** Fails with `AdminFailed` unless the database is the service's and of this release. */
export const serviceDatabase = (place: Place) => {
  const absence = absenceOf(place)
  const opened = Database.layer.pipe(Layer.provide(Layer.succeed(DatabaseConfig, place)))
  const checked = own(place).pipe(Layer.provideMerge(opened))
  return absence === null ? checked : Layer.unwrap(Effect.as(Effect.fail(failedBy(absence)), checked))
}

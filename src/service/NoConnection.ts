/**
 * A process that starts without a connection to its database says where it asked, what it was answered and what to do.
 */
import { Effect, Redacted, Schema } from "effect"
import { SqlError } from "effect/sql/SqlError"
import type { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import { sqlStateOf } from "#layers/sql/isDatabaseFault.ts"
import { connectionsBesidePool } from "#layers/sql/sessions.ts"

class NoConnection extends Schema.TaggedError<NoConnection>()("NoConnection", {
  /** Host, port and name of the database; nobody's password. */
  place: Schema.String,
  reason: Schema.String,
  toDo: Schema.String
}) {
  override get message() {
    return `The database at ${this.place} gave no connection: ${this.reason}. ${this.toDo}`
  }
}

/** `too_many_connections`: of the server, of the database or of the role. */
const tooMany = "53300"
/** `invalid_catalog_name` */
const noSuchDatabase = "3D000"
/** The server starts, shuts down or recovers. */
const notNow = "57P"

const hostOf = (url: Redacted.Redacted) => {
  const { host, pathname, searchParams } = new URL(Redacted.value(url))
  return `${host || searchParams.get("host") || "localhost"}${pathname}`
}

const toDoAbout = (sqlState: string, maxConnections: number): string => {
  if (sqlState === tooMany)
    return (
      `A process needs ${maxConnections + connectionsBesidePool} connections, DATABASE_POOL (${maxConnections}) and ` +
      `${connectionsBesidePool} more: raise max_connections of the server, or the connection limit of the role or the ` +
      "database, or lower DATABASE_POOL"
    )
  if (sqlState === noSuchDatabase) return "Create the database, or name another one in DATABASE_URL"
  if (sqlState.startsWith("28")) return "Set DATABASE_URL to a user and a password that the server takes"
  return "See that the server of DATABASE_URL runs, takes writes, and can be reached from here"
}

const isOfConnection = ({ reason }: SqlError, sqlState: string) =>
  ["ConnectionError", "AuthenticationError"].includes(reason._tag) ||
  sqlState === tooMany ||
  sqlState === noSuchDatabase ||
  sqlState.startsWith(notNow)

/** Undefined when there was a connection, and its statement failed. */
const noConnection = (
  { maxConnections, url }: DatabaseConfig["Service"],
  error: SqlError
): NoConnection | undefined => {
  const sqlState = sqlStateOf(error)
  if (url === null || !isOfConnection(error, sqlState)) return undefined
  const { cause } = error.reason
  const reason = cause instanceof Error ? cause.message : error.message
  return new NoConnection({ place: hostOf(url), reason, toDo: toDoAbout(sqlState, maxConnections) })
}

/** The program, whose end for want of a connection is one sentence, whichever part of it wanted one. */
export const sayingWhyNoConnection =
  (database: DatabaseConfig["Service"]) =>
  <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E | NoConnection, R> => {
    const said = (error: unknown) => (error instanceof SqlError ? noConnection(database, error) : undefined)
    return program.pipe(
      Effect.catch((error) => Effect.fail<E | NoConnection>(said(error) ?? error)),
      Effect.catchDefect((defect) => {
        const known = said(defect)
        return known === undefined ? Effect.die(defect) : Effect.fail(known)
      })
    )
  }

/** The SQL client of a simulated process: the real compiler and the real transactions over the simulated session. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { DatabaseInfo } from "#layers/sql/DatabaseInfo.ts"
import type { Process } from "#test/simulation/harness/Process.ts"
import type { Lease, Method, Session } from "#test/simulation/harness/Session.ts"

const connectionOf = (session: Session, lease: Lease): SqlConnection.Connection => {
  const ask =
    (method: Method) =>
    (sql: string, params: ReadonlyArray<unknown>): Effect.Effect<any, SqlError> =>
      Effect.callback<any, SqlError>((resume) => session.ask({ lease, method, sql, params, answer: resume }))
  return {
    execute: ask("execute"),
    executeRaw: ask("executeRaw"),
    executeValues: ask("executeValues"),
    executeValuesUnprepared: ask("executeValuesUnprepared"),
    executeUnprepared: ask("executeUnprepared"),
    executeStream: () => Stream.die(new Error("No statement of the service is streamed"))
  }
}

/** `isEmbedded`: the process is the only one on the database, and may take others for dead. */
export const simulatedSql = (session: Session, process: Process, isEmbedded: boolean) => {
  const lease = Effect.sync(() => connectionOf(session, { process, state: "open" }))
  const client = SqlClient.make({
    acquirer: lease,
    transactionAcquirer: lease,
    compiler: PgClient.makeCompiler(),
    driver: "pg",
    spanAttributes: [],
    prepareTransactionControls: true,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
  })
  return Layer.merge(
    Layer.effect(SqlClient.SqlClient, client).pipe(Layer.provide(Reactivity.layer)),
    Layer.succeed(DatabaseInfo, { isEmbedded, apart: null, listening: null, patient: null })
  )
}

/** What a process says that starts and gets no connection to its database. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { type AddressInfo, createServer } from "node:net"
import * as Database from "#layers/sql/Database.ts"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import { freePort } from "#sandbox/process/freePort.ts"
import { sayingWhyNoConnection } from "#src/service/NoConnection.ts"

/** An error of PostgreSQL's protocol, as a server sends it before it closes the connection. */
const refusal = (sqlState: string, message: string) => {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${sqlState}\0M${message}\0\0`)
  const head = Buffer.from("E\0\0\0\0")
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

/** A server that refuses every connection in this way. */
const refusing = (sqlState: string, message: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
      const server = createServer((socket) =>
        socket.on("error", () => undefined).once("data", () => socket.end(refusal(sqlState, message)))
      ).listen(0, "127.0.0.1", () =>
        resume(Effect.succeed({ port: (server.address() as AddressInfo).port, close: () => server.close() }))
      )
    }),
    ({ close }) => Effect.sync(close)
  )

const started = (
  port: number,
  use: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, { readonly message: string }>
) => {
  const url = Redacted.make(`postgres://ballast:secret@127.0.0.1:${port}/ballast`)
  const config = { url, dataDir: "", maxConnections: 10 }
  return Effect.flatMap(SqlClient.SqlClient, use).pipe(
    Effect.provide(Database.layer.pipe(Layer.provide(Layer.succeed(DatabaseConfig, config)))),
    sayingWhyNoConnection(config),
    Effect.flip,
    Effect.map(({ message }) => message)
  )
}

it.live("too few connections: how many it takes, and the settings that decide", () =>
  Effect.gen(function* () {
    const { port } = yield* refusing("53300", "sorry, too many clients already")
    const sentence =
      `The database at 127.0.0.1:${port}/ballast gave no connection: sorry, too many clients already. A process needs ` +
      "14 connections, DATABASE_POOL (10) and 4 more: raise max_connections of the server, or the connection limit of " +
      "the role or the database, or lower DATABASE_POOL"
    assert.strictEqual(yield* started(port, (sql) => sql`SELECT 1`), sentence)
    assert.strictEqual(
      yield* started(port, (sql) => Effect.orDie(sql`SELECT 1`)),
      sentence,
      "of a part that dies of it"
    )
  })
)

it.live.each([
  ["28P01", 'password authentication failed for user "ballast"', "Set DATABASE_URL to a user and a password"],
  ["3D000", 'database "ballast" does not exist', "Create the database, or name another one in DATABASE_URL"],
  ["57P03", "the database system is starting up", "See that the server of DATABASE_URL runs"]
] as const)("refused with %s: %s", ([sqlState, reason, toDo]) =>
  Effect.gen(function* () {
    const { port } = yield* refusing(sqlState, reason)
    const message = yield* started(port, (sql) => sql`SELECT 1`)
    assert.include(message, `The database at 127.0.0.1:${port}/ballast gave no connection: ${reason}. ${toDo}`)
  })
)

it.live("nobody listens there", () =>
  Effect.gen(function* () {
    const port = yield* Effect.orDie(freePort)
    const message = yield* started(port, (sql) => sql`SELECT 1`)
    assert.include(message, `gave no connection: connect ECONNREFUSED 127.0.0.1:${port}. See that the server`)
  })
)

it.effect("another error stays what it is", () =>
  Effect.gen(function* () {
    const config = { url: Redacted.make("postgres://127.0.0.1/ballast"), dataDir: "", maxConnections: 10 }
    const fault = new Error("of something else")
    assert.strictEqual(yield* Effect.flip(sayingWhyNoConnection(config)(Effect.fail(fault))), fault)
  })
)

/**
 * Databases that outlive their clients: on the server of `TEST_DATABASE_URL`, and without one embedded ones, of which
 * each connection to a socket is one to PGlite.
 */
import { PGlite } from "@electric-sql/pglite"
import { Effect } from "effect"
import { createServer } from "node:net"
import { join } from "node:path"
import { Gate } from "#layers/sql/pglite/Gate.ts"
import { PgliteDuplex } from "#layers/sql/pglite/PgliteDuplex.ts"
import { newServerDatabase } from "#test/support/database.ts"

/** Serves the database in `<dataDir>/postgres` until the scope closes; answers the path of the socket. */
const embedded = Effect.fnUntraced(function* (dataDir: string) {
  const gate = new Gate()
  const db = yield* Effect.acquireRelease(
    Effect.promise(() => PGlite.create({ dataDir: join(dataDir, "postgres") })),
    // Sessions that are closing finish first.
    (opened) => Effect.promise(() => gate.enter(opened).then(() => opened.close()))
  )
  const path = join(dataDir, "database.sock")
  yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((socket) => {
        const session = new PgliteDuplex(db, gate)
        // A client that was killed leaves its transaction open; it is rolled back with the session.
        socket.on("error", () => undefined).on("close", () => session.destroy())
        session.on("error", () => socket.destroy())
        socket.pipe(session).pipe(socket)
      }).listen(path, () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.promise(() => new Promise<void>((closed) => server.close(() => closed())))
  )
  return path
})

/** Commits are seen at once and written to the disk a little later: the server is not what dies here. */
const withoutFlush = (url: string) => `${url}?options=${encodeURIComponent("-c synchronous_commit=off")}`

/** A database for services: the path of its socket, or its URL. */
export const databaseServer = (dataDir: string) =>
  newServerDatabase === undefined ? embedded(dataDir) : Effect.map(newServerDatabase, withoutFlush)

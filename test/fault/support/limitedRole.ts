/** A role of a PostgreSQL server that may have so many connections, and an empty database of its own. */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { emptyServerDatabase } from "#test/support/database.ts"

const make = (newDatabase: NonNullable<typeof emptyServerDatabase>) =>
  Effect.gen(function* () {
    const url = yield* newDatabase
    const admin = Context.get(
      yield* Layer.build(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })),
      SqlClient.SqlClient
    )
    const own = new URL(url)
    const name = own.pathname.slice(1)
    own.username = `${name}_role`
    own.password = crypto.randomUUID()
    yield* Effect.acquireRelease(admin.unsafe(`CREATE ROLE ${own.username} LOGIN PASSWORD '${own.password}'`), () =>
      Effect.orDie(
        Effect.andThen(admin.unsafe(`DROP OWNED BY ${own.username}`), admin.unsafe(`DROP ROLE ${own.username}`))
      )
    )
    yield* admin.unsafe(`GRANT CREATE ON SCHEMA public TO ${own.username}`)
    return {
      url: own,
      setLimit: (connections: number) => admin.unsafe(`ALTER ROLE ${own.username} CONNECTION LIMIT ${connections}`)
    }
  })

/** Undefined without a server. */
export const limitedRole = emptyServerDatabase === undefined ? undefined : make(emptyServerDatabase)

/** What the database in use can do, for layers that must adapt to it. */
import type { PgClient } from "@effect/sql-pg"
import { Context, type Layer } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

/** Connections of their own to the server itself. */
type Connections<A = SqlClient.SqlClient> = Layer.Layer<A, SqlError>

export class DatabaseInfo extends Context.Service<
  DatabaseInfo,
  {
    /** True for the embedded database: one process, one connection, no LISTEN, advisory locks without effect. */
    readonly isEmbedded: boolean
    /** Connections beside the pool, for what must not wait for it; null where there can be none. */
    readonly apart: Connections | null
    /** A connection that receives notifications of other processes; null where there is no other. */
    readonly listening: Connections<PgClient.PgClient> | null
    /** A connection on which a statement may take as long as it takes; null where there is no other. */
    readonly patient: Connections | null
  }
>()("ballast/layers/sql/DatabaseInfo") {}

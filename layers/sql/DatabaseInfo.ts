/** What the database in use can do, for layers that must adapt to it. */
import { Context, type Layer } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

export class DatabaseInfo extends Context.Service<
  DatabaseInfo,
  {
    /** True for the embedded database: one process, one connection, no LISTEN, advisory locks without effect. */
    readonly isEmbedded: boolean
    /** A connection beside the pool, for what must not wait for it; null where there can be none. */
    readonly apart: Layer.Layer<SqlClient.SqlClient, SqlError> | null
  }
>()("ballast/layers/sql/DatabaseInfo") {}

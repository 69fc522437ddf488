/** What the database in use can do, for layers that must adapt to it. */
import { Context } from "effect"

export class DatabaseInfo extends Context.Service<
  DatabaseInfo,
  {
    /** True for the embedded database: one process, one connection, no LISTEN, advisory locks without effect. */
    readonly isEmbedded: boolean
  }
>()("ballast/layers/sql/DatabaseInfo") {}

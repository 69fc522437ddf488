/** Where the database is. Filled from the environment by src/Config.ts. */
import { Context, type Redacted } from "effect"

export class DatabaseConfig extends Context.Service<
  DatabaseConfig,
  {
    /** A PostgreSQL connection URI; null for the embedded database. */
    readonly url: Redacted.Redacted<string> | null
    /**
     * The server itself, when `url` is a pooler that gives a session to each transaction anew: what needs a session of
     * its own goes there. Nothing when `url` is the server.
     */
    readonly directUrl?: Redacted.Redacted<string> | null
    /** Folder of the deployment's state; the embedded database is in its `postgres` subfolder. */
    readonly dataDir: string
    /** Size of the connection pool to a PostgreSQL server; the embedded database has one connection. */
    readonly maxConnections: number
  }
>()("ballast/layers/sql/DatabaseConfig") {}

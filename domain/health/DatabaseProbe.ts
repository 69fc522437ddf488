/** Port: whether the database takes writes. */
import { Context, type Effect } from "effect"

/**
 * Writes to the database what nobody reads.
 *
 * **When to use**
 *
 * Use to find out whether a process can do its work: a database that only answers questions is of no use to it.
 */
export class DatabaseProbe extends Context.Service<
  DatabaseProbe,
  {
    /** Dies when the database does not take it. */
    readonly write: Effect.Effect<void>
  }
>()("ballast/domain/health/DatabaseProbe") {}

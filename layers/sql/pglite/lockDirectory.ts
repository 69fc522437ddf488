/**
 * One process a directory: PGlite has no guard of its own, and two of them on one directory destroy each other's
 * commits.
 *
 * The lock is the operating system's lock on a file, taken through SQLite because Node offers no call of its own for
 * it. The system drops it with the process however that ends, so a crash leaves nothing to clean up.
 */
import { Effect, Schema } from "effect"
import { mkdirSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"

/** Another process, or another layer of this one, runs the embedded database of the directory. */
export class DirectoryInUse extends Schema.TaggedError<DirectoryInUse>()("DirectoryInUse", {
  directory: Schema.String
}) {
  override get message() {
    return (
      `The embedded database in ${this.directory} is in use by another process. ` +
      "Stop that process, choose another DATA_DIR, or set DATABASE_URL to share a PostgreSQL server."
    )
  }
}

const isBusy = (cause: unknown) => cause instanceof Error && "errcode" in cause && cause.errcode === 5

const lock = (directory: string) => {
  mkdirSync(directory, { recursive: true })
  const file = new DatabaseSync(`${directory}.lock`, { timeout: 0 })
  try {
    file.exec("BEGIN EXCLUSIVE")
  } catch (cause) {
    file.close()
    throw cause
  }
  return file
}

/** Creates the directory when it is missing and holds it until the scope closes. The lock file lies beside it. */
export const lockDirectory = (directory: string) =>
  Effect.acquireRelease(
    Effect.suspend(() => {
      try {
        return Effect.succeed(lock(directory))
      } catch (cause) {
        return isBusy(cause) ? Effect.fail(new DirectoryInUse({ directory })) : Effect.die(cause)
      }
    }),
    (file) => Effect.sync(() => file.close())
  )

/** Reads the record of migrations before a process works on a database, or migrates it. */
import { Effect, Layer, Schema } from "effect"
import { schemaState } from "#layers/sql/schemaState.ts"

export class UnreleasedSchema extends Schema.TaggedError<UnreleasedSchema>()("UnreleasedSchema", {
  /** The first migration of the record that no release has, and the one that releases have. */
  found: Schema.String,
  expected: Schema.String
}) {
  override get message() {
    return `The database is of no release: its record of migrations has ${this.found} where releases have ${this.expected}. Nothing was changed; begin with an empty database, or name another one in DATABASE_URL or DATA_DIR`
  }
}

/** Refuses a schema of no release. An earlier release goes on with that of a later one, and logs a warning. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const state = yield* schemaState
    if (state._tag === "Unreleased") {
      const { expected, found } = state
      return yield* new UnreleasedSchema({ found, expected })
    }
    if (state._tag === "Ahead")
      yield* Effect.logWarning(
        `A later release has migrated this database (${state.unknown.join(", ")}); docs/operations.md, "Upgrade and rollback"`
      )
  })
)

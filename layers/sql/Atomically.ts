/** Database transactions behind the domain's `Atomically`. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { SqlError } from "effect/sql/SqlError"
import { Atomically } from "#domain/Atomically.ts"

const dieOnSqlError = <A, E, R>(effect: Effect.Effect<A, E | SqlError, R>) =>
  Effect.catchIf(
    effect,
    (error): error is SqlError => error instanceof SqlError,
    (error) => Effect.die(error)
  ) as Effect.Effect<A, E, R>

/** A failed BEGIN or COMMIT is a defect; the effect's own failure rolls back and comes through. */
export const layer = Layer.effect(
  Atomically,
  Effect.map(SqlClient.SqlClient, (sql) =>
    Atomically.of({ run: (effect) => dieOnSqlError(sql.withTransaction(effect)) })
  )
)

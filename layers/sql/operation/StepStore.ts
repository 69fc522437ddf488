/**
 * The oldest unfinished work in PostgreSQL: when operations that are not finished were accepted, or went on after they
 * had waited for their owner.
 */
import { Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { StepStore } from "#domain/operation/StepStore.ts"
import { decodeFirst, Timestamp } from "#layers/sql/rows.ts"

const firstOldest = decodeFirst(Schema.Struct({ moving: Schema.NullOr(Timestamp), retrying: Schema.NullOr(Timestamp) }))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const oldest = firstOldest(sql`
    SELECT least((SELECT min(submitted_at) FROM operations WHERE state = 'accepted'),
        (SELECT min(coalesce(resumed_at, submitted_at)) FROM operations WHERE state = 'running')) AS moving,
      (SELECT min(coalesce(resumed_at, submitted_at)) FROM operations WHERE state = 'retrying') AS retrying`).pipe(
    Effect.map(Option.getOrThrow),
    Effect.map(({ moving, retrying }) => ({
      moving: Option.fromNullOr(moving),
      retrying: Option.fromNullOr(retrying)
    })),
    Effect.withSpan("StepStore.oldest")
  )

  return StepStore.of({ oldest })
})

export const layer = Layer.effect(StepStore, make)

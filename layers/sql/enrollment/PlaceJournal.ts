/** Signed transactions of enrollments on Solana, in PostgreSQL. */
import { type DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type PlaceAttempt, PlaceJournal } from "#domain/enrollment/PlaceJournal.ts"
import type { FlowId } from "#domain/Ids.ts"
import { decodeFirst, timestamp } from "#layers/sql/rows.ts"

const firstAttempt = decodeFirst(
  Schema.Struct({ number: Schema.Int, ownerSignature: Schema.String, signed: Schema.String })
)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const latest: PlaceJournal["Service"]["latest"] = Effect.fn("PlaceJournal.latest")((flowId: FlowId) =>
    firstAttempt(sql`
      SELECT number, owner_signature AS "ownerSignature", signed FROM place_attempts
      WHERE flow_id = ${flowId} ORDER BY number DESC LIMIT 1`)
  )

  const record = Effect.fn("PlaceJournal.record")(function* (
    flowId: FlowId,
    { number, ownerSignature, signed }: PlaceAttempt,
    at: DateTime.Utc
  ) {
    const inserted = yield* sql`
      INSERT INTO place_attempts (flow_id, number, owner_signature, signed, created_at)
      VALUES (${flowId}, ${number}, ${ownerSignature}, ${signed}, ${timestamp(at)})
      ON CONFLICT DO NOTHING RETURNING 1`
    return inserted.length > 0
  }, Effect.orDie)

  return PlaceJournal.of({ latest, record })
})

export const layer = Layer.effect(PlaceJournal, make)

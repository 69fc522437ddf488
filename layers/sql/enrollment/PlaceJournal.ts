/** Signed transactions of enrollments on Solana, in PostgreSQL. */
import { type DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { RecordedPlace, type SignedPlace } from "#domain/account/SolanaWallets.ts"
import { type PlaceAttempt, PlaceJournal } from "#domain/enrollment/PlaceJournal.ts"
import type { FlowId } from "#domain/values/Ids.ts"
import { decodeFirst, timestamp } from "#layers/sql/rows.ts"

const firstAttempt = decodeFirst(
  Schema.Struct({ number: Schema.Int, ownerSignature: Schema.String, place: RecordedPlace })
)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const latest: PlaceJournal["Service"]["latest"] = Effect.fn("PlaceJournal.latest")((flowId: FlowId) =>
    firstAttempt(sql`
      SELECT number, owner_signature AS "ownerSignature", signed AS place FROM place_attempts
      WHERE flow_id = ${flowId} ORDER BY number DESC LIMIT 1`)
  )

  const record = Effect.fn("PlaceJournal.record")(function* (
    flowId: FlowId,
    { number, ownerSignature, place }: PlaceAttempt<SignedPlace>,
    at: DateTime.Utc
  ) {
    const inserted = yield* sql`
      INSERT INTO place_attempts (flow_id, number, owner_signature, signed, created_at)
      VALUES (${flowId}, ${number}, ${ownerSignature}, ${place}, ${timestamp(at)})
      ON CONFLICT DO NOTHING RETURNING 1`
    return inserted.length > 0 ? Option.some(RecordedPlace.make(place)) : Option.none()
  }, Effect.orDie)

  return PlaceJournal.of({ latest, record })
})

export const layer = Layer.effect(PlaceJournal, make)

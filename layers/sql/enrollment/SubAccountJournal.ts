/** Signed transactions of enrollments on Solana, in PostgreSQL. */
import { type DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { RecordedSubAccount, type SignedSubAccount } from "#domain/account/SolanaWallets.ts"
import { type SubAccountAttempt, SubAccountJournal } from "#domain/enrollment/SubAccountJournal.ts"
import type { FlowId } from "#domain/values/Ids.ts"
import { decodeFirst, timestamp } from "#layers/sql/rows.ts"

const firstAttempt = decodeFirst(
  Schema.Struct({ number: Schema.Int, ownerSignature: Schema.String, subAccount: RecordedSubAccount })
)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const latest: SubAccountJournal["Service"]["latest"] = Effect.fn("SubAccountJournal.latest")((flowId: FlowId) =>
    firstAttempt(sql`
      SELECT number, owner_signature AS "ownerSignature", signed AS "subAccount" FROM sub_account_attempts
      WHERE flow_id = ${flowId} ORDER BY number DESC LIMIT 1`)
  )

  const record = Effect.fn("SubAccountJournal.record")(function* (
    flowId: FlowId,
    { number, ownerSignature, subAccount }: SubAccountAttempt<SignedSubAccount>,
    at: DateTime.Utc
  ) {
    const inserted = yield* sql`
      INSERT INTO sub_account_attempts (flow_id, number, owner_signature, signed, created_at)
      VALUES (${flowId}, ${number}, ${ownerSignature}, ${subAccount}, ${timestamp(at)})
      ON CONFLICT DO NOTHING RETURNING 1`
    return inserted.length > 0 ? Option.some(RecordedSubAccount.make(subAccount)) : Option.none()
  }, Effect.orDie)

  return SubAccountJournal.of({ latest, record })
})

export const layer = Layer.effect(SubAccountJournal, make)

/** Signed transactions of parts in PostgreSQL, each in one commit with what makes its attempt one that is under way. */
import { Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CancelRequested } from "#domain/operation/CancelRequested.ts"
import { type RecordedPart, type PartId, PartJournal } from "#domain/relay/PartJournal.ts"
import { holdOpen } from "#layers/sql/operation/cancelRequests.ts"
import { decodeFirst, timestamp } from "#layers/sql/rows.ts"

const firstRecorded = decodeFirst(Schema.Struct({ number: Schema.Int, payload: Schema.String }))
const firstStanding = decodeFirst(Schema.Struct({ isOpen: Schema.Boolean, isCancelled: Schema.Boolean }))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const latest = Effect.fn("PartJournal.latest")(({ attempt: { attempt, chainId, operationId }, part }: PartId) =>
    firstRecorded(sql`
      SELECT number, payload FROM relayed_parts
      WHERE (operation_id, chain_id, attempt, part) = (${operationId}, ${chainId}, ${attempt}, ${part})
      ORDER BY number DESC LIMIT 1`)
  )

  const record: PartJournal["Service"]["record"] = Effect.fn("PartJournal.record")(
    function* (
      { attempt: { attempt, chainId, operationId }, part },
      prepared,
      { at, isLanded, number, payload, txHash }
    ) {
      // The operation is kept from being cancelled from here to the commit, and read after that.
      yield* Effect.orDie(sql`SELECT ${holdOpen(sql, [operationId])}`)
      const standing = yield* firstStanding(sql`
        SELECT finished_at IS NULL AS "isOpen", cancel_requested_at IS NOT NULL AS "isCancelled"
        FROM operations WHERE operation_id = ${operationId}`)
      if (Option.isNone(standing) || !standing.value.isOpen) {
        return yield* Effect.die(new Error(`Nothing is signed for ${operationId}: it has ended or does not exist`))
      }
      if (standing.value.isCancelled && number === 1 && isLanded !== true)
        return yield* new CancelRequested({ operationId })
      yield* Effect.orDie(sql`
        INSERT INTO relayed_actions (operation_id, chain_id, attempt, account_id, action_hash, found_from, status,
          created_at, updated_at)
        VALUES (${operationId}, ${chainId}, ${attempt}, ${prepared.accountId}, ${prepared.actionHash},
          ${prepared.slot.toString()}::numeric, 'signed', ${timestamp(at)}, ${timestamp(at)})
        ON CONFLICT (operation_id, chain_id, attempt) DO NOTHING`)
      yield* Effect.orDie(sql`
        INSERT INTO relayed_parts (operation_id, chain_id, attempt, part, number, tx_hash, payload, created_at)
        VALUES (${operationId}, ${chainId}, ${attempt}, ${part}, ${number}, ${txHash}, ${payload}, ${timestamp(at)})`)
    },
    sql.withTransaction,
    Effect.catchTag("SqlError", Effect.die)
  )

  return PartJournal.of({
    latest: (id) => latest(id) satisfies Effect.Effect<Option.Option<RecordedPart>>,
    record
  })
})

export const layer = Layer.effect(PartJournal, make)

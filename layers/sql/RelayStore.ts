/** What was signed for the chains, and what became of it, in PostgreSQL. */
import { type DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type AttemptId, RelayStore } from "#domain/relay/RelayStore.ts"
import { ActionReceipt } from "#domain/relay/Transaction.ts"
import { makeReserve } from "#layers/sql/reserve.ts"
import { timestamp } from "#layers/sql/rows.ts"
import { storableJson } from "#layers/sql/storable.ts"

const encodeReceipt = Schema.encodeSync(ActionReceipt)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const recordReceipt = Effect.fn("RelayStore.recordReceipt")(function* (
    attempt: AttemptId,
    receipt: ActionReceipt,
    at: DateTime.Utc
  ) {
    const recorded = yield* sql`
      UPDATE relayed_transactions SET receipt = ${storableJson(encodeReceipt(receipt))}::jsonb,
        status = ${receipt.success ? "succeeded" : "reverted"}, updated_at = ${timestamp(at)}
      WHERE operation_id = ${attempt.operationId} AND chain_id = ${attempt.chainId} AND attempt = ${attempt.attempt}
      RETURNING 1`
    if (recorded.length === 0) {
      return yield* Effect.die(
        new Error(
          `Attempt ${attempt.attempt} of ${attempt.operationId} on chain ${attempt.chainId} was never signed: it can have no receipt`
        )
      )
    }
  }, Effect.orDie)

  return RelayStore.of({ reserve: makeReserve(sql), recordReceipt })
})

export const layer = Layer.effect(RelayStore, make)

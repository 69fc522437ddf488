/** What was signed for the chains, and what became of it, in PostgreSQL. */
import { type DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { EvmAddress } from "#domain/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { type AttemptId, RelayStore, type StoredTransaction } from "#domain/relay/RelayStore.ts"
import { ActionReceipt, type SignedTransaction } from "#domain/relay/Transaction.ts"
import { firstSigned, selectSigned } from "#layers/sql/relayRows.ts"
import { makeReserve } from "#layers/sql/reserve.ts"
import { timestamp } from "#layers/sql/rows.ts"
import { storableJson } from "#layers/sql/storable.ts"

const encodeReceipt = Schema.encodeSync(ActionReceipt)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const sent = Effect.fn("RelayStore.sent")(({ attempt, chainId, operationId }: AttemptId) =>
    firstSigned(sql`
      ${sql.literal(selectSigned)}
      WHERE t.operation_id = ${operationId} AND t.chain_id = ${chainId} AND t.attempt = ${attempt}`)
  )

  const atNonce = Effect.fn("RelayStore.atNonce")((chainId: number, relayer: EvmAddress, nonce: number) =>
    firstSigned(sql`
      ${sql.literal(selectSigned)} WHERE t.chain_id = ${chainId} AND t.relayer = ${relayer} AND t.nonce = ${nonce}`)
  )

  const replace = Effect.fn("RelayStore.replace")(
    function* (
      { attempt, transaction }: StoredTransaction,
      at: DateTime.Utc,
      sign: Effect.Effect<SignedTransaction, ChainUnavailable>
    ) {
      // The lock puts processes in line that replace the same transaction; only the first one signs.
      yield* sql`
        SELECT 1 FROM relayed_transactions WHERE operation_id = ${attempt.operationId}
          AND chain_id = ${attempt.chainId} AND attempt = ${attempt.attempt} FOR NO KEY UPDATE`
      const newest = yield* Effect.flatMap(sent(attempt), Effect.fromOption)
      if (newest.transaction.txHash !== transaction.txHash) return newest.transaction
      const signed = yield* sign
      yield* sql`
        INSERT INTO relayed_replacements (operation_id, chain_id, attempt, replacement, tx_hash, raw, created_at)
        VALUES (${attempt.operationId}, ${attempt.chainId}, ${attempt.attempt}, ${signed.replaces.length},
          ${signed.txHash}, ${signed.raw}, ${timestamp(at)})`
      return signed
    },
    sql.withTransaction,
    Effect.catchIf(
      (error) => error._tag !== "ChainUnavailable",
      (error) => Effect.die(error)
    )
  )

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

  return RelayStore.of({ reserve: makeReserve(sql), sent, atNonce, replace, recordReceipt })
})

export const layer = Layer.effect(RelayStore, make)

/**
 * Nonces of the relayer: given out one after the other, each together with the bytes that were signed with it.
 *
 * The nonce's row stays locked until the transaction ends, so no two transactions sign with one nonce, and a nonce
 * whose bytes were not stored is given out again.
 */
import { type DateTime, Effect, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { SqlError } from "effect/sql/SqlError"
import { ChainId, type EvmAddress } from "#domain/Caip.ts"
import { Bytes32, HexBytes } from "#domain/enrollment/Authorization.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import type { PreparedTransaction, SignedTransaction } from "#domain/relay/Transaction.ts"
import { decodeFirst, Numeric, SmallBigint, timestamp } from "#layers/sql/rows.ts"

const SignedRow = Schema.Struct({
  chainId: SmallBigint.pipe(Schema.decodeTo(ChainId)),
  subject: Bytes32,
  nonce: SmallBigint,
  txHash: Bytes32,
  raw: HexBytes,
  fromBlock: Numeric
})
const firstSigned = decodeFirst(SignedRow)

export const makeReserve = (sql: SqlClient.SqlClient) => {
  const stored = ({ attempt, chainId, operationId }: AttemptId) =>
    firstSigned(sql`
      SELECT chain_id AS "chainId", subject, nonce, tx_hash AS "txHash", raw, from_block AS "fromBlock"
      FROM relayed_transactions WHERE operation_id = ${operationId} AND chain_id = ${chainId} AND attempt = ${attempt}`)

  /** The chain's own count wins when it is ahead: the relayer's key may have been used elsewhere. */
  const takeNonce = (chainId: number, relayer: EvmAddress, chainNonce: number) =>
    sql<{ readonly nonce: bigint }>`
      INSERT INTO relayer_nonces (chain_id, relayer, next) VALUES (${chainId}, ${relayer}, ${chainNonce} + 1)
      ON CONFLICT (chain_id, relayer) DO UPDATE SET next = greatest(relayer_nonces.next + 1, excluded.next)
      RETURNING next - 1 AS nonce`

  const signAndStore = Effect.fnUntraced(function* (
    { attempt, chainId, operationId }: AttemptId,
    prepared: PreparedTransaction,
    relayer: EvmAddress,
    at: DateTime.Utc,
    sign: (nonce: number) => Effect.Effect<SignedTransaction>
  ) {
    const [row] = yield* takeNonce(chainId, relayer, prepared.chainNonce)
    const signed = yield* sign(Number(row!.nonce))
    const inserted = yield* sql`
      INSERT INTO relayed_transactions (operation_id, chain_id, attempt, account_id, subject, relayer, nonce, tx_hash,
        raw, from_block, status, created_at, updated_at)
      VALUES (${operationId}, ${chainId}, ${attempt}, ${prepared.accountId}, ${signed.subject}, ${relayer},
        ${signed.nonce}, ${signed.txHash}, ${signed.raw}, ${signed.fromBlock.toString()}::numeric, 'signed',
        ${timestamp(at)}, ${timestamp(at)})
      ON CONFLICT (operation_id, chain_id, attempt) DO NOTHING RETURNING 1`
    // Signed by somebody else meanwhile: failing gives the nonce back.
    return inserted.length > 0 ? signed : yield* Effect.fail("AlreadySigned" as const)
  }, sql.withTransaction)

  return Effect.fn("RelayStore.reserve")(function* (
    attempt: AttemptId,
    prepared: PreparedTransaction,
    relayer: EvmAddress,
    at: DateTime.Utc,
    sign: (nonce: number) => Effect.Effect<SignedTransaction>
  ) {
    const before = yield* stored(attempt)
    if (Option.isSome(before)) return before.value
    return yield* signAndStore(attempt, prepared, relayer, at, sign).pipe(
      Effect.catch((error) =>
        error instanceof SqlError ? Effect.die(error) : Effect.map(stored(attempt), Option.getOrThrow)
      )
    )
  })
}

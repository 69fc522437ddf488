/**
 * Nonces of the relayer: given out one after the other, each together with the bytes that were signed with it.
 *
 * The nonce's row stays locked until the transaction ends, so no two transactions sign with one nonce, and a nonce
 * whose bytes were not stored is given out again.
 */
import { type DateTime, Effect, Option } from "effect"
import type { SqlClient } from "effect/sql"
import type { EvmAddress } from "#domain/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { AttemptId } from "#domain/relay/RelayStore.ts"
import type { PreparedTransaction, SignedTransaction } from "#domain/relay/Transaction.ts"
import { firstSigned, selectSigned } from "#layers/sql/relayRows.ts"
import { timestamp } from "#layers/sql/rows.ts"

type Lanes = readonly [EvmAddress, ...ReadonlyArray<EvmAddress>]

const alreadySigned = { _tag: "AlreadySigned" } as const

export const makeReserve = (sql: SqlClient.SqlClient) => {
  const stored = ({ attempt, chainId, operationId }: AttemptId) =>
    Effect.map(
      firstSigned(sql`
        ${sql.literal(selectSigned)}
        WHERE t.operation_id = ${operationId} AND t.chain_id = ${chainId} AND t.attempt = ${attempt}`),
      Option.map(({ transaction }) => transaction)
    )

  /** The chain's own count wins when it is ahead: the relayer's key may have been used elsewhere. */
  const takeNonce = (chainId: number, relayer: EvmAddress, chainNonce: number) =>
    sql<{ readonly nonce: bigint }>`
      INSERT INTO relayer_nonces (chain_id, relayer, next) VALUES (${chainId}, ${relayer}, ${chainNonce} + 1)
      ON CONFLICT (chain_id, relayer) DO UPDATE SET next = greatest(relayer_nonces.next + 1, excluded.next)
      RETURNING next - 1 AS nonce`

  /** Of equals the earlier one. Not locked: two that choose the same are put in line by its nonce. */
  const leastBusy = Effect.fnUntraced(function* (chainId: number, lanes: Lanes) {
    if (lanes.length === 1) return lanes[0]
    const [row] = yield* sql<{ readonly relayer: string }>`
      SELECT lane.relayer FROM unnest(${[...lanes]}::text[]) WITH ORDINALITY AS lane (relayer, position)
      ORDER BY (SELECT count(*) FROM relayed_transactions t
        WHERE t.chain_id = ${chainId} AND t.relayer = lane.relayer AND t.status = 'signed'), lane.position LIMIT 1`
    return row!.relayer as EvmAddress
  })

  const chainNonceOf = ({ chainNonce, laneNonces }: PreparedTransaction, lane: EvmAddress) =>
    laneNonces.find(({ relayer }) => relayer === lane)?.nonce ?? chainNonce

  const signAndStore = Effect.fnUntraced(function* (
    { attempt, chainId, operationId }: AttemptId,
    prepared: PreparedTransaction,
    lanes: Lanes,
    at: DateTime.Utc,
    sign: (nonce: number, lane: EvmAddress) => Effect.Effect<SignedTransaction, ChainUnavailable>
  ) {
    const relayer = yield* leastBusy(chainId, lanes)
    const [row] = yield* takeNonce(chainId, relayer, chainNonceOf(prepared, relayer))
    const signed = yield* sign(Number(row!.nonce), relayer)
    const inserted = yield* sql`
      INSERT INTO relayed_transactions (operation_id, chain_id, attempt, account_id, subject, relayer, nonce, tx_hash,
        raw, from_block, status, created_at, updated_at)
      VALUES (${operationId}, ${chainId}, ${attempt}, ${prepared.accountId}, ${signed.subject}, ${relayer},
        ${signed.nonce}, ${signed.txHash}, ${signed.raw}, ${signed.fromBlock.toString()}::numeric, 'signed',
        ${timestamp(at)}, ${timestamp(at)})
      ON CONFLICT (operation_id, chain_id, attempt) DO NOTHING RETURNING 1`
    // Signed by somebody else meanwhile: failing gives the nonce back.
    return inserted.length > 0 ? signed : yield* Effect.fail(alreadySigned)
  }, sql.withTransaction)

  return Effect.fn("RelayStore.reserve")(function* (
    attempt: AttemptId,
    prepared: PreparedTransaction,
    lanes: Lanes,
    at: DateTime.Utc,
    sign: (nonce: number, lane: EvmAddress) => Effect.Effect<SignedTransaction, ChainUnavailable>
  ) {
    const before = yield* stored(attempt)
    if (Option.isSome(before)) return before.value
    return yield* signAndStore(attempt, prepared, lanes, at, sign).pipe(
      Effect.catch((error) => {
        if (error === alreadySigned) return Effect.map(stored(attempt), Option.getOrThrow)
        return error._tag === "ChainUnavailable" ? Effect.fail(error) : Effect.die(error)
      })
    )
  })
}

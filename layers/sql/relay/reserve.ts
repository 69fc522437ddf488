/**
 * Nonces of the relayer: given out one after the other, each together with the bytes that were signed with it and the
 * attempts that these carry.
 *
 * The nonce's row stays locked until the transaction ends, so no two transactions sign with one nonce, and a nonce
 * whose bytes were not stored is given out again. The attempts' key is what signs each of them once; they are stored in
 * one order, so that two that store the same wait for each other rather than deadlock.
 */
import { type DateTime, Data, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { EvmAddress } from "#domain/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { CarriedAction, RelayStore } from "#domain/relay/RelayStore.ts"
import type { SignedTransaction } from "#domain/relay/Transaction.ts"
import { timestamp } from "#layers/sql/rows.ts"

type Lanes = readonly [EvmAddress, ...ReadonlyArray<EvmAddress>]
type Actions = readonly [CarriedAction, ...ReadonlyArray<CarriedAction>]
type Sign = (nonce: number, lane: EvmAddress) => Effect.Effect<SignedTransaction, ChainUnavailable>

/** Gives the nonce back: one of the attempts cannot be stored. */
class NotStored extends Data.TaggedError("NotStored")<{}> {}

export const makeReserve = (sql: SqlClient.SqlClient, signed: RelayStore["Service"]["signed"]) => {
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
      ORDER BY (SELECT count(DISTINCT a.nonce) FROM relayed_actions a
        WHERE a.chain_id = ${chainId} AND a.relayer = lane.relayer AND a.status = 'signed'), lane.position LIMIT 1`
    return row!.relayer as EvmAddress
  })

  const chainNonceOf = (actions: Actions, lane: EvmAddress) =>
    Math.max(
      ...actions.map(
        ({ prepared }) => prepared.laneNonces.find(({ relayer }) => relayer === lane)?.nonce ?? prepared.chainNonce
      )
    )

  const store = (
    actions: Actions,
    { chainId, nonce, raw, relayer, txHash }: SignedTransaction,
    at: DateTime.Utc
  ) => sql`
    WITH transaction AS (
      INSERT INTO relayed_transactions (chain_id, relayer, nonce, carries, tx_hash, raw, created_at)
      VALUES (${chainId}, ${relayer}, ${nonce}, ${actions.length}, ${txHash}, ${raw}, ${timestamp(at)})
    )
    INSERT INTO relayed_actions (operation_id, chain_id, attempt, account_id, subject, relayer, nonce, from_block, status,
      created_at, updated_at)
    SELECT a.operation_id, ${chainId}, a.attempt, a.account_id, a.subject, ${relayer}, ${nonce}, a.from_block::numeric,
      'signed', ${timestamp(at)}, ${timestamp(at)}
    FROM unnest(${actions.map(({ attempt }) => attempt.operationId)}::text[],
      ${actions.map(({ attempt }) => attempt.attempt)}::int[], ${actions.map(({ prepared }) => prepared.accountId)}::text[],
      ${actions.map(({ prepared }) => prepared.subject)}::text[],
      ${actions.map(({ prepared }) => prepared.fromBlock.toString())}::text[])
      AS a (operation_id, attempt, account_id, subject, from_block)
    JOIN operations o ON o.operation_id = a.operation_id AND o.finished_at IS NULL
    ORDER BY a.operation_id, a.attempt
    ON CONFLICT (operation_id, chain_id, attempt) DO NOTHING RETURNING 1`

  const signAndStore = Effect.fnUntraced(function* (
    actions: Actions,
    relayer: EvmAddress,
    at: DateTime.Utc,
    sign: Sign
  ) {
    const { chainId } = actions[0].attempt
    const [row] = yield* takeNonce(chainId, relayer, chainNonceOf(actions, relayer))
    const stored = yield* store(actions, yield* sign(Number(row!.nonce), relayer), at)
    if (stored.length < actions.length) return yield* new NotStored()
  }, sql.withTransaction)

  const isAnySigned = (actions: Actions) =>
    Effect.map(signed(actions.map(({ attempt }) => attempt)), (found) => found.length > 0)

  /** Either an attempt was signed by somebody else meanwhile, or its operation has ended. */
  const explain = Effect.fnUntraced(function* (actions: Actions) {
    if (yield* isAnySigned(actions)) return false
    const operations = actions.map(({ attempt }) => attempt.operationId).join(", ")
    return yield* Effect.die(
      new Error(`Nothing is signed for ${operations}: an operation among them has ended or does not exist`)
    )
  })

  return Effect.fn("RelayStore.reserve")(function* (actions: Actions, lanes: Lanes, at: DateTime.Utc, sign: Sign) {
    if (yield* isAnySigned(actions)) return false
    return yield* Effect.flatMap(leastBusy(actions[0].attempt.chainId, lanes), (relayer) =>
      signAndStore(actions, relayer, at, sign)
    ).pipe(
      Effect.as(true),
      Effect.catch((error) => {
        if (error._tag === "NotStored") return explain(actions)
        return error._tag === "ChainUnavailable" ? Effect.fail(error) : Effect.die(error)
      })
    )
  })
}

/**
 * Stores the bytes that a relayer's key signed: the nonces, the transactions and the attempts that they include, all in
 * one commit or none of them.
 *
 * The lock on the account's row orders the commits, and the primary key of attempts is what signs each of them once.
 * They are stored in one order, so that two that store the same wait for each other rather than deadlock.
 */
import { type DateTime, Data, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { feeCeilingOf } from "#domain/relay/fees/feeCeilings.ts"
import type { RelayedAction } from "#domain/relay/RelayStore.ts"
import type { SignedTransaction } from "#domain/relay/Transaction.ts"
import { holdOpen } from "#layers/sql/operation/cancelRequests.ts"
import type { RelayerAccount } from "#layers/sql/relay/relayerTurns.ts"
import { timestamp } from "#layers/sql/rows.ts"

export type Actions = readonly [RelayedAction, ...ReadonlyArray<RelayedAction>]

/** A transaction and what it includes. */
export interface SignedBytes {
  readonly actions: Actions
  readonly transaction: SignedTransaction
  readonly at: DateTime.Utc
}

/** Transactions of one account, with nonces in a row, the lowest first. */
export type Signed = readonly [SignedBytes, ...ReadonlyArray<SignedBytes>]

/** Takes everything back: one of the attempts cannot be stored. */
class NotStored extends Data.TaggedError("NotStored")<{}> {}

/** Another process has stored bytes with a nonce meanwhile. */
class Overtaken extends Data.TaggedError("Overtaken")<{}> {}

export const makeStoreSigned = (sql: SqlClient.SqlClient) => {
  /**
   * Only as long as nothing is stored with the first of them or a later one. The operations are kept from being
   * cancelled from here to the commit.
   */
  const useNonces = ({ chainId, relayer }: RelayerAccount, first: number, signed: Signed) => sql`
    UPDATE relayer_nonces SET next = ${first + signed.length}, held_by = NULL, held_until = NULL
    WHERE chain_id = ${chainId} AND relayer = ${relayer} AND next <= ${first}
    RETURNING ${holdOpen(
      sql,
      signed.flatMap(({ actions }) => actions.map(({ attempt }) => attempt.operationId))
    )}`

  const insert = ({ chainId, relayer }: RelayerAccount, signed: Signed) => {
    const relayed = signed.flatMap(({ actions, at, transaction: { nonce } }) =>
      actions.map((action) => ({ ...action, nonce, at }))
    )
    return sql`
    WITH transactions AS (
      INSERT INTO relayed_transactions (chain_id, relayer, nonce, action_count, tx_hash, raw, fee_ceiling, created_at)
      SELECT ${chainId}, ${relayer}, t.nonce, t.action_count, t.tx_hash, t.raw, nullif(t.fee_ceiling, '')::numeric, t.at
      FROM unnest(${signed.map(({ transaction }) => transaction.nonce)}::bigint[],
        ${signed.map(({ actions }) => actions.length)}::int[],
        ${signed.map(({ transaction }) => transaction.txHash)}::text[],
        ${signed.map(({ transaction }) => transaction.raw)}::text[],
        ${signed.map(({ actions }) => feeCeilingOf(actions.map(({ prepared }) => prepared))?.toString() ?? "")}::text[],
        ${signed.map(({ at }) => timestamp(at))}::timestamptz[])
        AS t (nonce, action_count, tx_hash, raw, fee_ceiling, at)
    )
    INSERT INTO relayed_actions (operation_id, chain_id, attempt, account_id, action_hash, relayer, nonce, found_from,
      status, created_at, updated_at)
    SELECT a.operation_id, ${chainId}, a.attempt, a.account_id, a.action_hash, ${relayer}, a.nonce,
      a.found_from::numeric,
      'signed', a.at, a.at
    FROM unnest(${relayed.map(({ attempt }) => attempt.operationId)}::text[],
      ${relayed.map(({ attempt }) => attempt.attempt)}::int[],
      ${relayed.map(({ prepared }) => prepared.accountId)}::text[],
      ${relayed.map(({ prepared }) => prepared.actionHash)}::text[],
      ${relayed.map(({ prepared }) => prepared.fromBlock.toString())}::text[],
      ${relayed.map(({ nonce }) => nonce)}::bigint[],
      ${relayed.map(({ at }) => timestamp(at))}::timestamptz[])
      AS a (operation_id, attempt, account_id, action_hash, found_from, nonce, at)
    JOIN operations o ON o.operation_id = a.operation_id AND o.finished_at IS NULL
      AND o.cancel_requested_at IS NULL
    ORDER BY a.operation_id, a.attempt
    ON CONFLICT (operation_id, chain_id, attempt) DO NOTHING RETURNING 1`
  }

  return Effect.fnUntraced(function* (signed: Signed) {
    const { chainId, nonce, relayer } = signed[0].transaction
    const account = { chainId, relayer }
    if ((yield* useNonces(account, nonce, signed)).length === 0) return yield* new Overtaken()
    const relayed = signed.reduce((sum, { actions }) => sum + actions.length, 0)
    if ((yield* insert(account, signed)).length < relayed) return yield* new NotStored()
  }, sql.withTransaction)
}

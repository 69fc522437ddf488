/**
 * A relayer's transaction may carry several actions: transactions have a table of their own, by the nonce that they
 * use, and each attempt's row says which of them carries it. Replacements belong to the transaction.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE relayed_transactions RENAME TO relayed_actions`
  yield* sql`
    CREATE TABLE relayed_transactions (
      chain_id bigint NOT NULL,
      relayer text COLLATE "C" NOT NULL,
      nonce bigint NOT NULL,
      carries integer NOT NULL,
      tx_hash text NOT NULL,
      raw text NOT NULL,
      created_at timestamptz(3) NOT NULL,
      PRIMARY KEY (chain_id, relayer, nonce)
    )`
  yield* sql`
    INSERT INTO relayed_transactions (chain_id, relayer, nonce, carries, tx_hash, raw, created_at)
    SELECT chain_id, relayer, nonce, 1, tx_hash, raw, created_at FROM relayed_actions`

  yield* sql`ALTER TABLE relayed_replacements ADD COLUMN relayer text COLLATE "C", ADD COLUMN nonce bigint`
  yield* sql`
    UPDATE relayed_replacements r SET relayer = a.relayer, nonce = a.nonce FROM relayed_actions a
    WHERE (a.operation_id, a.chain_id, a.attempt) = (r.operation_id, r.chain_id, r.attempt)`
  yield* sql`
    ALTER TABLE relayed_replacements DROP COLUMN operation_id, DROP COLUMN attempt,
      ALTER COLUMN relayer SET NOT NULL, ALTER COLUMN nonce SET NOT NULL,
      ADD PRIMARY KEY (chain_id, relayer, nonce, replacement),
      ADD FOREIGN KEY (chain_id, relayer, nonce) REFERENCES relayed_transactions`

  yield* sql`ALTER INDEX relayed_transactions_settled RENAME TO relayed_actions_settled`
  yield* sql`ALTER INDEX relayed_transactions_signed RENAME TO relayed_actions_signed`
  yield* sql`DROP INDEX relayed_transactions_unsettled`
  yield* sql`
    ALTER TABLE relayed_actions DROP CONSTRAINT user_operations_chain_id_relayer_nonce_key,
      DROP COLUMN tx_hash, DROP COLUMN raw,
      ADD FOREIGN KEY (chain_id, relayer, nonce) REFERENCES relayed_transactions`
  yield* sql`CREATE INDEX relayed_actions_carried ON relayed_actions (chain_id, relayer, nonce)`
  yield* sql`
    CREATE INDEX relayed_actions_unsettled ON relayed_actions (chain_id, relayer, nonce) WHERE status = 'signed'`
})

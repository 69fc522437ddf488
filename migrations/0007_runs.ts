/**
 * What rebalance runs leave behind: reports, the user operations they signed, and the relayers' nonces.
 *
 * A signed transaction is stored with its nonce in one commit, and no nonce of a relayer is ever stored twice.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE rebalance_runs (
      operation_id text COLLATE "C" PRIMARY KEY REFERENCES operations,
      strategy_version integer NOT NULL,
      report jsonb NOT NULL,
      finished_at timestamptz(3) NOT NULL
    )`
  yield* sql`
    CREATE TABLE relayer_nonces (
      chain_id bigint NOT NULL,
      relayer text COLLATE "C" NOT NULL,
      next bigint NOT NULL,
      PRIMARY KEY (chain_id, relayer)
    )`
  yield* sql`
    CREATE TABLE user_operations (
      operation_id text COLLATE "C" NOT NULL REFERENCES operations,
      chain_id bigint NOT NULL,
      attempt integer NOT NULL,
      account_id text COLLATE "C" NOT NULL,
      user_op_hash text NOT NULL,
      relayer text COLLATE "C" NOT NULL,
      nonce bigint NOT NULL,
      tx_hash text NOT NULL,
      raw text NOT NULL,
      from_block numeric(78, 0) NOT NULL,
      status text NOT NULL CHECK (status IN ('signed', 'succeeded', 'reverted')),
      receipt jsonb,
      created_at timestamptz(3) NOT NULL,
      updated_at timestamptz(3) NOT NULL,
      PRIMARY KEY (operation_id, chain_id, attempt),
      UNIQUE (chain_id, relayer, nonce)
    )`
})

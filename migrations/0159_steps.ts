/**
 * Transactions of actions whose steps each are one: on a chain without relayers and nonces. Their attempts are among
 * `relayed_actions` like all others, without a relayer's nonce.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE relayed_actions ALTER COLUMN relayer DROP NOT NULL, ALTER COLUMN nonce DROP NOT NULL`
  yield* sql`
    ALTER TABLE relayed_actions ADD CONSTRAINT relayed_actions_nonce CHECK ((relayer IS NULL) = (nonce IS NULL))`
  yield* sql`
    CREATE TABLE relayed_steps (
      operation_id text COLLATE "C" NOT NULL,
      chain_id bigint NOT NULL,
      attempt integer NOT NULL,
      step integer NOT NULL CHECK (step >= 0),
      number integer NOT NULL CHECK (number >= 1),
      tx_hash text NOT NULL UNIQUE,
      payload text NOT NULL,
      created_at timestamptz(3) NOT NULL,
      PRIMARY KEY (operation_id, chain_id, attempt, step, number),
      FOREIGN KEY (operation_id, chain_id, attempt) REFERENCES relayed_actions
    )`
})

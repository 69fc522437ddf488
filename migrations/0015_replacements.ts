/**
 * Transactions that took the place of one with the same nonce by offering more. The attempt's own row keeps the first;
 * each replacement is stored before it is sent, as any of them may land.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE relayed_replacements (
      operation_id text COLLATE "C" NOT NULL,
      chain_id bigint NOT NULL,
      attempt integer NOT NULL,
      replacement integer NOT NULL,
      tx_hash text NOT NULL,
      raw text NOT NULL,
      created_at timestamptz(3) NOT NULL,
      PRIMARY KEY (operation_id, chain_id, attempt, replacement),
      FOREIGN KEY (operation_id, chain_id, attempt) REFERENCES relayed_transactions
    )`
})

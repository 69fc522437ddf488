/** The asset catalogue, filled from the deployment's token lists. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE assets (
      asset_id text COLLATE "C" PRIMARY KEY,
      chain_id bigint NOT NULL,
      symbol text NOT NULL,
      name text NOT NULL,
      decimals smallint NOT NULL CHECK (decimals BETWEEN 0 AND 255),
      is_blocked boolean NOT NULL,
      updated_at timestamptz(3) NOT NULL
    )`
  yield* sql`CREATE INDEX assets_on_chain ON assets (chain_id, asset_id)`
})

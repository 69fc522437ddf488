/**
 * Market data that all processes share, and the lease of the one that fetches it.
 *
 * A dataset is replaced whole; `revision` shows readers that it was. What cannot be fetched keeps its last data.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE SEQUENCE market_dataset_revisions`
  yield* sql`
    CREATE TABLE market_datasets (
      name text COLLATE "C" PRIMARY KEY,
      provider text NOT NULL,
      revision bigint NOT NULL,
      fetched_at timestamptz(3),
      attempted_at timestamptz(3) NOT NULL,
      failure text,
      data jsonb,
      CHECK ((fetched_at IS NULL) = (data IS NULL))
    )`
  yield* sql`
    CREATE TABLE market_refresh_lease (
      is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
      holder text NOT NULL,
      epoch bigint NOT NULL,
      expires_at timestamptz(3) NOT NULL
    )`
  yield* sql`INSERT INTO market_refresh_lease (holder, epoch, expires_at) VALUES ('', 0, '1970-01-01')`
})

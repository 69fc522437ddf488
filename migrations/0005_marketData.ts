/** Market data that all processes share. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE SEQUENCE market_dataset_revisions`
  yield* sql`COMMENT ON SEQUENCE market_dataset_revisions IS 'Revisions of datasets.'`
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
    DO $$ BEGIN
      COMMENT ON TABLE market_datasets IS
        'Datasets of providers. A dataset is replaced whole; one that cannot be fetched keeps its last data.';
      COMMENT ON COLUMN market_datasets.name IS 'Name of the dataset.';
      COMMENT ON COLUMN market_datasets.provider IS 'Who it is from.';
      COMMENT ON COLUMN market_datasets.revision IS 'Number that rises with each replacement, over all datasets.';
      COMMENT ON COLUMN market_datasets.fetched_at IS 'When the data was fetched. Null: never.';
      COMMENT ON COLUMN market_datasets.attempted_at IS 'When it was last tried.';
      COMMENT ON COLUMN market_datasets.failure IS 'Why the last try failed. Null: it did not.';
      COMMENT ON COLUMN market_datasets.data IS 'What was fetched.';
    END $$`

  yield* sql`
    CREATE TABLE market_refresh_lease (
      is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
      holder text NOT NULL,
      epoch bigint NOT NULL,
      expires_at timestamptz(3) NOT NULL
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE market_refresh_lease IS 'Which process fetches the datasets: one row.';
      COMMENT ON COLUMN market_refresh_lease.is_only IS 'True, so that there is one row.';
      COMMENT ON COLUMN market_refresh_lease.holder IS 'Process that fetches; empty before the first.';
      COMMENT ON COLUMN market_refresh_lease.epoch IS 'Number that rises with each change of the holder.';
      COMMENT ON COLUMN market_refresh_lease.expires_at IS 'Until when it is the holder.';
    END $$`
  yield* sql`INSERT INTO market_refresh_lease (holder, epoch, expires_at) VALUES ('', 0, '1970-01-01')`
})

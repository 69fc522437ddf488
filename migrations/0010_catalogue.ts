/**
 * What the service knows of assets beyond one chain: subjects, the tokens that stand for them, and their categories.
 *
 * The content comes with the program and is written whole whenever it differs from what `catalogue_content` says.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE canonical_assets (
      asset_canonical_id uuid PRIMARY KEY,
      kind text NOT NULL,
      symbol text NOT NULL,
      name text NOT NULL
    )`
  yield* sql`
    CREATE TABLE asset_representations (
      caip_asset_id text COLLATE "C" PRIMARY KEY,
      asset_canonical_id uuid NOT NULL REFERENCES canonical_assets,
      issuer text,
      unit_model text NOT NULL,
      decimals smallint NOT NULL CHECK (decimals BETWEEN 0 AND 255),
      symbol text NOT NULL
    )`
  yield* sql`CREATE INDEX asset_representations_of ON asset_representations (asset_canonical_id)`
  yield* sql`
    CREATE TABLE asset_classifications (
      asset_canonical_id uuid NOT NULL REFERENCES canonical_assets,
      dimension text NOT NULL,
      key text COLLATE "C" NOT NULL,
      label text NOT NULL,
      confidence_bps smallint NOT NULL CHECK (confidence_bps BETWEEN 1 AND 10000),
      rank smallint NOT NULL CHECK (rank >= 0),
      PRIMARY KEY (asset_canonical_id, dimension, key)
    )`
  yield* sql`
    CREATE TABLE catalogue_content (
      is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
      content_hash text NOT NULL,
      loaded_at timestamptz(3)
    )`
  yield* sql`INSERT INTO catalogue_content (content_hash) VALUES ('')`
})

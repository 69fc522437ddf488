/** Tokens: listed ones, what their chains and venues say of them, and what they stand for. */
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
      updated_at timestamptz(3) NOT NULL,
      chain_decimals integer,
      refusal text,
      checked_at timestamptz(3),
      market_price_usd numeric,
      market_depth_usd numeric,
      market_at timestamptz(3),
      CONSTRAINT market_is_whole CHECK ((market_price_usd IS NULL) = (market_depth_usd IS NULL))
    )`
  yield* sql`CREATE INDEX assets_on_chain ON assets (chain_id, asset_id)`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE assets IS 'Tokens of the deployment''s lists.';
      COMMENT ON COLUMN assets.asset_id IS 'Token, CAIP-19.';
      COMMENT ON COLUMN assets.chain_id IS 'Number of the chain.';
      COMMENT ON COLUMN assets.symbol IS 'Symbol of its list.';
      COMMENT ON COLUMN assets.name IS 'Name of its list.';
      COMMENT ON COLUMN assets.decimals IS 'Decimals of its list.';
      COMMENT ON COLUMN assets.is_blocked IS 'Whether it is refused by its list.';
      COMMENT ON COLUMN assets.updated_at IS 'When its list last changed it.';
      COMMENT ON COLUMN assets.chain_decimals IS 'Decimals that its chain says. Null: not known.';
      COMMENT ON COLUMN assets.refusal IS 'Why it is refused. Null: it is not.';
      COMMENT ON COLUMN assets.checked_at IS 'When its chain was last asked. Null: not yet.';
      COMMENT ON COLUMN assets.market_price_usd IS 'What the venues of its chain pay for a unit, USD.';
      COMMENT ON COLUMN assets.market_depth_usd IS 'Value that was quoted for that price, USD.';
      COMMENT ON COLUMN assets.market_at IS 'When the venues were asked.';
    END $$`

  yield* sql`
    CREATE TABLE token_entries (
      main_id text COLLATE "C" NOT NULL,
      other_id text COLLATE "C" NOT NULL,
      are_one boolean,
      judged_at timestamptz(3) NOT NULL,
      PRIMARY KEY (main_id, other_id)
    )`
  yield* sql`
    CREATE UNIQUE INDEX token_entries_of_pair
      ON token_entries (least(main_id, other_id), greatest(main_id, other_id))`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE token_entries IS 'Pairs of tokens that may be two entries to one balance.';
      COMMENT ON COLUMN token_entries.main_id IS 'Token that counts, CAIP-19.';
      COMMENT ON COLUMN token_entries.other_id IS 'Token that does not count beside it, CAIP-19.';
      COMMENT ON COLUMN token_entries.are_one IS 'Whether both are one balance. Null: it could not be found out.';
      COMMENT ON COLUMN token_entries.judged_at IS 'When it was last tried.';
    END $$`

  yield* sql`
    CREATE TABLE canonical_assets (
      asset_canonical_id uuid PRIMARY KEY,
      kind text NOT NULL,
      symbol text NOT NULL,
      name text NOT NULL
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE canonical_assets IS 'Subjects that tokens stand for. The content comes with the program.';
      COMMENT ON COLUMN canonical_assets.asset_canonical_id IS 'Id of the subject.';
      COMMENT ON COLUMN canonical_assets.kind IS 'Kind of the subject, such as crypto or stock.';
      COMMENT ON COLUMN canonical_assets.symbol IS 'Symbol of the subject.';
      COMMENT ON COLUMN canonical_assets.name IS 'Name of the subject.';
    END $$`

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
    DO $$ BEGIN
      COMMENT ON TABLE asset_representations IS 'Tokens that stand for a subject.';
      COMMENT ON COLUMN asset_representations.caip_asset_id IS 'Token, CAIP-19.';
      COMMENT ON COLUMN asset_representations.asset_canonical_id IS 'Subject that it stands for.';
      COMMENT ON COLUMN asset_representations.issuer IS 'Who issues it. Null: nobody does.';
      COMMENT ON COLUMN asset_representations.unit_model IS 'How a unit of it relates to a unit of the subject.';
      COMMENT ON COLUMN asset_representations.decimals IS 'Decimals of the token.';
      COMMENT ON COLUMN asset_representations.symbol IS 'Symbol of the token.';
    END $$`

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
    DO $$ BEGIN
      COMMENT ON TABLE asset_classifications IS 'Categories of subjects.';
      COMMENT ON COLUMN asset_classifications.asset_canonical_id IS 'Subject.';
      COMMENT ON COLUMN asset_classifications.dimension IS 'What is classified, such as the sector.';
      COMMENT ON COLUMN asset_classifications.key IS 'Category within the dimension.';
      COMMENT ON COLUMN asset_classifications.label IS 'Name of the category for people.';
      COMMENT ON COLUMN asset_classifications.confidence_bps IS 'How sure it is, basis points.';
      COMMENT ON COLUMN asset_classifications.rank IS 'Position among the categories of the dimension, the first is 0.';
    END $$`

  yield* sql`
    CREATE TABLE catalogue_content (
      is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
      content_hash text NOT NULL,
      loaded_at timestamptz(3)
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE catalogue_content IS 'Which content of the catalogue is loaded: one row.';
      COMMENT ON COLUMN catalogue_content.is_only IS 'True, so that there is one row.';
      COMMENT ON COLUMN catalogue_content.content_hash IS
        'Hash of the content that was loaded last; empty before the first.';
      COMMENT ON COLUMN catalogue_content.loaded_at IS 'When it was loaded.';
    END $$`
  yield* sql`INSERT INTO catalogue_content (content_hash) VALUES ('')`
})

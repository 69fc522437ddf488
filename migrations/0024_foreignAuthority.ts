/** Who else may move assets of portfolios, and the event of it. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE foreign_authorities (
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios,
      asset_id text COLLATE "C" NOT NULL,
      holder text NOT NULL,
      since timestamptz(3) NOT NULL,
      PRIMARY KEY (portfolio_id, asset_id, holder)
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE foreign_authorities IS
        'Who else may move assets of portfolios, as their last runs found it. Those that are gone have no row.';
      COMMENT ON COLUMN foreign_authorities.portfolio_id IS 'Portfolio.';
      COMMENT ON COLUMN foreign_authorities.asset_id IS 'Asset that may be moved, or whose account may be closed.';
      COMMENT ON COLUMN foreign_authorities.holder IS 'Address of who may do that.';
      COMMENT ON COLUMN foreign_authorities.since IS 'When a run first found it.';
    END $$`
  yield* sql`
    CREATE FUNCTION note_foreign_authority_event() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO tenant_events (tenant_id, at, type, portfolio_id, strategy_id, data)
      SELECT p.tenant_id, NEW.since, 'portfolio.foreign_authority', p.portfolio_id, p.strategy_id,
        jsonb_build_object('assetId', NEW.asset_id, 'holder', NEW.holder)
      FROM portfolios p WHERE p.portfolio_id = NEW.portfolio_id;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER foreign_authorities_are_noted AFTER INSERT ON foreign_authorities
    FOR EACH ROW EXECUTE FUNCTION note_foreign_authority_event()`
})

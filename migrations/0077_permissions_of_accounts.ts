/**
 * Which of a portfolio's accounts are under the trade guard, by what the owner signed last for each chain. Kept by the
 * grants themselves, so that it is true whichever version of the service writes them.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE portfolios ADD COLUMN guarded_account_ids text[] NOT NULL DEFAULT '{}'`
  yield* sql`
    CREATE FUNCTION note_guarded_accounts() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE portfolios SET guarded_account_ids = ARRAY(
        SELECT id FROM unnest(guarded_account_ids) AS id
        WHERE id NOT IN (SELECT chain ->> 'accountId'
        FROM jsonb_array_elements(NEW.authorization_document -> 'chains') AS chain)
        UNION ALL
        SELECT chain ->> 'accountId' FROM jsonb_array_elements(NEW.authorization_document -> 'chains') AS chain
        WHERE chain -> 'policy' -> 'guard' IS NOT NULL
      )
      WHERE portfolio_id = NEW.portfolio_id;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER grants_note_guarded_accounts AFTER INSERT ON grants
    FOR EACH ROW EXECUTE FUNCTION note_guarded_accounts()`
  yield* sql`
    UPDATE portfolios p SET guarded_account_ids = ARRAY(
      SELECT latest.account_id FROM (
        SELECT DISTINCT ON (chain ->> 'accountId') chain ->> 'accountId' AS account_id,
          chain -> 'policy' -> 'guard' IS NOT NULL AS is_guarded
        FROM grants g, jsonb_array_elements(g.authorization_document -> 'chains') AS chain
        WHERE g.portfolio_id = p.portfolio_id
        ORDER BY chain ->> 'accountId', g.sequence DESC
      ) AS latest WHERE latest.is_guarded
    )`
  yield* sql`
    CREATE INDEX portfolios_under_old_permissions ON portfolios (tenant_id, created_at DESC, portfolio_id DESC)
    WHERE archived_at IS NULL AND NOT (account_ids <@ guarded_account_ids)`
})

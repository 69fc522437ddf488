/**
 * When the first of a portfolio's permissions runs out, by what the owner signed last for each account; null while none
 * has an end. Kept by the grants themselves. What is not finished is queried by portfolio.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE portfolios ADD COLUMN permission_ends_at timestamptz(3)`
  yield* sql`
    CREATE FUNCTION first_permission_end(wanted text) RETURNS timestamptz LANGUAGE sql STABLE AS $$
      SELECT to_timestamp(min(latest.valid_until)) FROM (
        SELECT DISTINCT ON (chain ->> 'accountId')
          (chain -> 'policy' -> 'guard' ->> 'validUntil')::bigint AS valid_until
        FROM grants g, jsonb_array_elements(g.authorization_document -> 'chains') AS chain
        WHERE g.portfolio_id = wanted
        ORDER BY chain ->> 'accountId', g.sequence DESC
      ) AS latest
    $$`
  yield* sql`
    CREATE FUNCTION note_permission_end() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE portfolios SET permission_ends_at = first_permission_end(NEW.portfolio_id)
      WHERE portfolio_id = NEW.portfolio_id;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER grants_note_permission_end AFTER INSERT ON grants
    FOR EACH ROW EXECUTE FUNCTION note_permission_end()`
  yield* sql`UPDATE portfolios SET permission_ends_at = first_permission_end(portfolio_id)`
  yield* sql`CREATE INDEX operations_unfinished_of_portfolio ON operations (portfolio_id) WHERE finished_at IS NULL`
})

/**
 * What integrators write onto strategies and portfolios: an id of their own, one of each kind in a tenant, and
 * key-value pairs. Each pair is an entry that sorts like the list, so that a page of those that have it is one walk of
 * an index however many there are. Kept by the tables themselves; processes of before write neither.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const kinds = [
  { table: "strategies", one: "strategy", id: "strategy_id", unique: "" },
  { table: "portfolios", one: "portfolio", id: "portfolio_id", unique: "AND archived_at IS NULL" }
] as const

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const { id, one, table, unique } of kinds) {
    yield* sql.unsafe(`
      ALTER TABLE ${table} ADD COLUMN external_id text COLLATE "C", ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}'`)
    yield* sql.unsafe(`
      CREATE UNIQUE INDEX ${table}_by_external_id ON ${table} (tenant_id, external_id)
      WHERE external_id IS NOT NULL ${unique}`)
    yield* sql.unsafe(`
      CREATE TABLE ${one}_metadata (
        tenant_id text COLLATE "C" NOT NULL,
        key text COLLATE "C" NOT NULL,
        value text COLLATE "C" NOT NULL,
        created_at timestamptz(3) NOT NULL,
        ${id} text COLLATE "C" NOT NULL REFERENCES ${table} ON DELETE CASCADE,
        PRIMARY KEY (tenant_id, key, value, created_at, ${id})
      )`)
    yield* sql.unsafe(`CREATE INDEX ${one}_metadata_of ON ${one}_metadata (${id})`)
    yield* sql.unsafe(`
      CREATE FUNCTION enter_${one}_metadata() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        DELETE FROM ${one}_metadata WHERE ${id} = NEW.${id};
        INSERT INTO ${one}_metadata (tenant_id, key, value, created_at, ${id})
        SELECT NEW.tenant_id, e.key, e.value, NEW.created_at, NEW.${id} FROM jsonb_each_text(NEW.metadata) e;
        RETURN NULL;
      END $$`)
    yield* sql.unsafe(`
      CREATE TRIGGER ${table}_begin_with_metadata AFTER INSERT ON ${table}
      FOR EACH ROW WHEN (NEW.metadata <> '{}') EXECUTE FUNCTION enter_${one}_metadata()`)
    yield* sql.unsafe(`
      CREATE TRIGGER ${table}_change_metadata AFTER UPDATE OF metadata ON ${table}
      FOR EACH ROW WHEN (NEW.metadata <> OLD.metadata) EXECUTE FUNCTION enter_${one}_metadata()`)
  }
})

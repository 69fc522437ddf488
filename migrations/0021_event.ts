/** The log of a tenant''s events, which triggers write. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE tenant_events (
      entry_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      tenant_id text COLLATE "C" NOT NULL,
      sequence bigint,
      at timestamptz(3) NOT NULL,
      type text NOT NULL,
      operation_id text COLLATE "C",
      portfolio_id text COLLATE "C",
      strategy_id text COLLATE "C",
      data jsonb NOT NULL
    )`
  yield* sql`
    CREATE UNIQUE INDEX tenant_events_numbered ON tenant_events (tenant_id, sequence)
      WHERE sequence IS NOT NULL`
  yield* sql`CREATE INDEX tenant_events_unnumbered ON tenant_events (tenant_id, entry_id) WHERE sequence IS NULL`
  yield* sql`CREATE INDEX tenant_events_old ON tenant_events (at)`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE tenant_events IS
        'Events of tenants. A reader numbers them in the order of arrival, so that writers do not wait for each other.';
      COMMENT ON COLUMN tenant_events.entry_id IS 'Order of arrival.';
      COMMENT ON COLUMN tenant_events.tenant_id IS 'Tenant.';
      COMMENT ON COLUMN tenant_events.sequence IS 'Number in the tenant''s log. Null: not read yet.';
      COMMENT ON COLUMN tenant_events.at IS 'When it happened.';
      COMMENT ON COLUMN tenant_events.type IS 'Type of the event.';
      COMMENT ON COLUMN tenant_events.operation_id IS 'Operation that it is about.';
      COMMENT ON COLUMN tenant_events.portfolio_id IS 'Portfolio that it is about.';
      COMMENT ON COLUMN tenant_events.strategy_id IS 'Strategy that it is about.';
      COMMENT ON COLUMN tenant_events.data IS 'What there is to say of it.';
    END $$`

  yield* sql`
    CREATE TABLE tenant_event_heads (
      tenant_id text COLLATE "C" PRIMARY KEY,
      last_sequence bigint NOT NULL
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE tenant_event_heads IS 'Last number of each tenant''s log; its lock makes readers take turns.';
      COMMENT ON COLUMN tenant_event_heads.tenant_id IS 'Tenant.';
      COMMENT ON COLUMN tenant_event_heads.last_sequence IS 'Last number that was given.';
    END $$`
  // Events are written by the tables themselves, so that the log is whole whoever writes to them.
  yield* sql`
    CREATE FUNCTION note_operation_events() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO tenant_events (tenant_id, at, type, operation_id, portfolio_id, data)
      SELECT o.tenant_id, e.at, CASE e.kind WHEN 'state' THEN 'operation.state_changed' ELSE 'operation.progressed' END,
        o.operation_id, o.portfolio_id,
        jsonb_build_object('kind', o.kind, 'trigger', o.trigger, 'sequence', e.sequence) || CASE e.kind
          WHEN 'state' THEN jsonb_build_object('state', e.payload -> 'state', 'error', e.payload -> 'error',
            'outcome', e.payload -> 'outcome')
          ELSE jsonb_build_object('event', e.kind, 'detail', e.payload) END
      FROM added e JOIN operations o ON o.operation_id = e.operation_id
      ORDER BY e.at, e.operation_id, e.sequence;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER operation_events_are_noted AFTER INSERT ON operation_events
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION note_operation_events()`
  yield* sql`
    CREATE FUNCTION note_portfolio_event() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO tenant_events (tenant_id, at, type, portfolio_id, strategy_id, data)
      VALUES (NEW.tenant_id, NEW.updated_at, CASE
        WHEN TG_OP = 'INSERT' THEN 'portfolio.enrolled'
        WHEN NEW.archived_at IS DISTINCT FROM OLD.archived_at THEN 'portfolio.archived'
        WHEN NEW.revoked_at IS NULL AND OLD.revoked_at IS NOT NULL THEN 'portfolio.permitted'
        WHEN NEW.revoked_at IS DISTINCT FROM OLD.revoked_at THEN 'portfolio.revoked'
        ELSE 'portfolio.renamed' END, NEW.portfolio_id, NEW.strategy_id, '{}');
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER portfolios_are_noted AFTER INSERT ON portfolios FOR EACH ROW EXECUTE FUNCTION note_portfolio_event()`
  yield* sql`
    CREATE TRIGGER portfolio_changes_are_noted AFTER UPDATE OF name, archived_at, revoked_at ON portfolios FOR EACH ROW
    WHEN ((OLD.name, OLD.archived_at, OLD.revoked_at) IS DISTINCT FROM (NEW.name, NEW.archived_at, NEW.revoked_at))
    EXECUTE FUNCTION note_portfolio_event()`
  yield* sql`
    CREATE FUNCTION note_schedule_event() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO tenant_events (tenant_id, at, type, portfolio_id, strategy_id, data)
      VALUES (NEW.tenant_id, NEW.updated_at,
        CASE NEW.status WHEN 'active' THEN 'portfolio.started' ELSE 'portfolio.paused' END,
        NEW.portfolio_id, NEW.strategy_id, '{}');
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER schedules_are_noted AFTER UPDATE OF status ON schedules FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION note_schedule_event()`
  yield* sql`
    CREATE FUNCTION note_version_event() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO tenant_events (tenant_id, at, type, strategy_id, data)
      SELECT s.tenant_id, NEW.created_at,
        CASE NEW.version WHEN 1 THEN 'strategy.created' ELSE 'strategy.version_published' END,
        NEW.strategy_id, jsonb_build_object('version', NEW.version)
      FROM strategies s WHERE s.strategy_id = NEW.strategy_id;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER strategy_versions_are_noted AFTER INSERT ON strategy_versions
    FOR EACH ROW EXECUTE FUNCTION note_version_event()`
  yield* sql`
    CREATE FUNCTION note_enrollment_event() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO tenant_events (tenant_id, at, type, portfolio_id, strategy_id, data)
      VALUES (NEW.tenant_id, NEW.created_at, 'enrollment.started', NEW.portfolio_id, NEW.strategy_id,
        jsonb_build_object('flowId', NEW.flow_id));
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER enrollments_are_noted AFTER INSERT ON enrollment_flows
    FOR EACH ROW EXECUTE FUNCTION note_enrollment_event()`
})

/** Operations, their histories, and whose turn it is on an account. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE operations (
      operation_id text COLLATE "C" PRIMARY KEY,
      tenant_id text COLLATE "C" NOT NULL,
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios,
      kind text NOT NULL,
      trigger text NOT NULL,
      state text NOT NULL,
      submitted_at timestamptz(3) NOT NULL,
      updated_at timestamptz(3) NOT NULL,
      finished_at timestamptz(3),
      error text,
      last_sequence integer NOT NULL,
      outcome text,
      reason text,
      result jsonb,
      cancel_requested_at timestamptz(3),
      fired_by jsonb,
      resumed_at timestamptz(3),
      CHECK ((finished_at IS NOT NULL) = (state IN ('completed', 'failed', 'cancelled')))
    )`
  yield* sql`
    CREATE INDEX operations_manual ON operations (portfolio_id, submitted_at DESC)
    WHERE kind = 'rebalance' AND trigger = 'manual'`
  yield* sql`CREATE INDEX operations_accepted ON operations (submitted_at, operation_id) WHERE state = 'accepted'`
  // The oldest unfinished operation is queried every few seconds, among all that there ever were.
  yield* sql`
    CREATE INDEX operations_unfinished ON operations (state, updated_at)
    WHERE state IN ('accepted', 'running', 'retrying')`
  // A run that does nothing but wait for its owner leaves its portfolio free for others.
  yield* sql`
    CREATE UNIQUE INDEX operations_one_unfinished_rebalance ON operations (portfolio_id)
    WHERE kind = 'rebalance' AND finished_at IS NULL AND state <> 'awaiting_user'`
  yield* sql`CREATE INDEX operations_of_tenant ON operations (tenant_id, submitted_at DESC, operation_id DESC)`
  yield* sql`CREATE INDEX operations_of_portfolio ON operations (portfolio_id, submitted_at DESC, operation_id DESC)`
  yield* sql`CREATE INDEX operations_of_kind ON operations (tenant_id, kind, submitted_at DESC, operation_id DESC)`
  yield* sql`CREATE INDEX operations_in_state ON operations (tenant_id, state, submitted_at DESC, operation_id DESC)`
  yield* sql`CREATE INDEX operations_unfinished_of_portfolio ON operations (portfolio_id) WHERE finished_at IS NULL`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE operations IS 'What the service does for portfolios, each with its state.';
      COMMENT ON COLUMN operations.operation_id IS 'Id: op_ and a ULID.';
      COMMENT ON COLUMN operations.tenant_id IS 'Tenant of the portfolio.';
      COMMENT ON COLUMN operations.portfolio_id IS 'Portfolio.';
      COMMENT ON COLUMN operations.kind IS 'What it does, such as rebalance or withdrawal.';
      COMMENT ON COLUMN operations.trigger IS 'What started it.';
      COMMENT ON COLUMN operations.state IS 'Where it stands.';
      COMMENT ON COLUMN operations.submitted_at IS 'When it was accepted.';
      COMMENT ON COLUMN operations.updated_at IS 'When its state last changed.';
      COMMENT ON COLUMN operations.finished_at IS 'When it ended. Null: it has not.';
      COMMENT ON COLUMN operations.error IS 'Why it failed.';
      COMMENT ON COLUMN operations.last_sequence IS
        'Number of its last event. Whoever appends one updates this first, so that writers take turns.';
      COMMENT ON COLUMN operations.outcome IS 'What it did, beside its final state.';
      COMMENT ON COLUMN operations.reason IS 'Why it did nothing, or not all.';
      COMMENT ON COLUMN operations.result IS 'What it did in detail.';
      COMMENT ON COLUMN operations.cancel_requested_at IS
        'When it was asked to cancel: it sends nothing that is not signed yet.';
      COMMENT ON COLUMN operations.fired_by IS 'Trigger of the strategy that started it.';
      COMMENT ON COLUMN operations.resumed_at IS 'When it went on after it had waited for its owner.';
    END $$`

  yield* sql`
    CREATE TABLE operation_events (
      operation_id text COLLATE "C" NOT NULL REFERENCES operations,
      sequence integer NOT NULL,
      at timestamptz(3) NOT NULL,
      kind text NOT NULL,
      payload jsonb NOT NULL,
      PRIMARY KEY (operation_id, sequence)
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE operation_events IS 'Histories of operations.';
      COMMENT ON COLUMN operation_events.operation_id IS 'Operation.';
      COMMENT ON COLUMN operation_events.sequence IS 'Number of the event in its operation.';
      COMMENT ON COLUMN operation_events.at IS 'When it happened.';
      COMMENT ON COLUMN operation_events.kind IS 'What happened.';
      COMMENT ON COLUMN operation_events.payload IS 'What there is to say of it.';
    END $$`

  yield* sql`
    CREATE TABLE account_turns (
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios,
      chain_id bigint NOT NULL,
      operation_id text COLLATE "C" NOT NULL REFERENCES operations,
      PRIMARY KEY (portfolio_id, chain_id)
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE account_turns IS
        'Which operation acts for a portfolio''s account on a chain. One that has ended counts no more.';
      COMMENT ON COLUMN account_turns.portfolio_id IS 'Portfolio.';
      COMMENT ON COLUMN account_turns.chain_id IS 'Number of the chain.';
      COMMENT ON COLUMN account_turns.operation_id IS 'Operation.';
    END $$`

  yield* sql`
    CREATE TABLE account_waits (
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios,
      chain_id bigint NOT NULL,
      operation_id text COLLATE "C" NOT NULL REFERENCES operations,
      urgency smallint NOT NULL,
      PRIMARY KEY (portfolio_id, chain_id, operation_id)
    )`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE account_waits IS 'Which operations wait for their turn.';
      COMMENT ON COLUMN account_waits.portfolio_id IS 'Portfolio.';
      COMMENT ON COLUMN account_waits.chain_id IS 'Number of the chain.';
      COMMENT ON COLUMN account_waits.operation_id IS 'Operation.';
      COMMENT ON COLUMN account_waits.urgency IS 'Who goes first: the lowest number.';
    END $$`
})

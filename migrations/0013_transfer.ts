/** Value on its route between chains. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE transfers (
      operation_id text COLLATE "C" PRIMARY KEY REFERENCES operations,
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios,
      run_id text COLLATE "C" NOT NULL REFERENCES operations,
      chain_id bigint NOT NULL,
      attempt integer NOT NULL,
      position integer NOT NULL,
      account_id text COLLATE "C" NOT NULL,
      destination_id text COLLATE "C" NOT NULL,
      sell text COLLATE "C" NOT NULL,
      buy text COLLATE "C" NOT NULL,
      amount_raw numeric(78, 0) NOT NULL,
      min_raw numeric(78, 0) NOT NULL,
      expected_raw numeric(78, 0) NOT NULL,
      bridge_address text COLLATE "C" NOT NULL,
      tool text NOT NULL,
      tx_hash text NOT NULL,
      state text NOT NULL CHECK (state IN ('open', 'delivered', 'partial', 'refunded', 'failed')),
      ending jsonb,
      opened_at timestamptz(3) NOT NULL,
      closed_at timestamptz(3),
      UNIQUE (run_id, chain_id, attempt, "position"),
      CHECK ((closed_at IS NULL) = (state = 'open'))
    )`
  yield* sql`CREATE INDEX transfers_open_of_portfolio ON transfers (portfolio_id) WHERE state = 'open'`
  yield* sql`CREATE INDEX transfers_sent ON transfers (account_id)`
  yield* sql`CREATE INDEX transfers_received ON transfers (destination_id)`
  yield* sql`CREATE INDEX transfers_open ON transfers (operation_id) WHERE state = 'open'`
  yield* sql`CREATE INDEX transfers_closed_of_portfolio ON transfers (portfolio_id, closed_at) WHERE state <> 'open'`
  // The last block in which a transfer arrived at an account, or came back to it, however many it has had.
  yield* sql`
    CREATE INDEX transfers_arrived_at ON transfers
      (destination_id, ((ending #>> '{received,blockNumber}')::numeric))
    WHERE state IN ('delivered', 'partial') AND ending #>> '{received,blockNumber}' IS NOT NULL`
  yield* sql`
    CREATE INDEX transfers_returned_to ON transfers
      (account_id, ((ending #>> '{received,blockNumber}')::numeric))
    WHERE state = 'refunded' AND ending #>> '{received,blockNumber}' IS NOT NULL`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE transfers IS
        'Ledger of transfers, each watched by an operation. An open one is owned by the portfolio, held by no account.';
      COMMENT ON COLUMN transfers.operation_id IS 'Operation that watches it.';
      COMMENT ON COLUMN transfers.portfolio_id IS 'Portfolio.';
      COMMENT ON COLUMN transfers.run_id IS 'Run that sent it.';
      COMMENT ON COLUMN transfers.chain_id IS 'Chain that it left.';
      COMMENT ON COLUMN transfers.attempt IS 'Attempt of the run on the chain that included it.';
      COMMENT ON COLUMN transfers.position IS 'Position among the transfers of that attempt, the first is 0.';
      COMMENT ON COLUMN transfers.account_id IS 'Account that sent it, CAIP-10.';
      COMMENT ON COLUMN transfers.destination_id IS 'Account that receives it, CAIP-10.';
      COMMENT ON COLUMN transfers.sell IS 'Asset that left, CAIP-19.';
      COMMENT ON COLUMN transfers.buy IS 'Asset that arrives, CAIP-19.';
      COMMENT ON COLUMN transfers.amount_raw IS 'What left, raw units of the asset that left.';
      COMMENT ON COLUMN transfers.min_raw IS 'Minimum that may arrive, raw units of the asset that arrives.';
      COMMENT ON COLUMN transfers.expected_raw IS
        'What the provider expects to arrive, raw units of the asset that arrives.';
      COMMENT ON COLUMN transfers.bridge_address IS 'Address that took the amount.';
      COMMENT ON COLUMN transfers.tool IS 'Provider''s name of the bridge.';
      COMMENT ON COLUMN transfers.tx_hash IS 'Transaction that sent it.';
      COMMENT ON COLUMN transfers.state IS 'What became of it.';
      COMMENT ON COLUMN transfers.ending IS 'How it ended, with the transaction that brought it.';
      COMMENT ON COLUMN transfers.opened_at IS 'When it left.';
      COMMENT ON COLUMN transfers.closed_at IS 'When it ended.';
    END $$`

  yield* sql`
    CREATE TABLE transfer_intents (
      run_id text COLLATE "C" NOT NULL REFERENCES operations,
      chain_id bigint NOT NULL,
      attempt integer NOT NULL,
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios,
      account_id text COLLATE "C" NOT NULL,
      action_hash text NOT NULL,
      found_from numeric(78, 0) NOT NULL,
      transfers jsonb NOT NULL,
      announced_at timestamptz(3) NOT NULL,
      PRIMARY KEY (run_id, chain_id, attempt)
    )`
  yield* sql`CREATE INDEX transfer_intents_of_portfolio ON transfer_intents (portfolio_id)`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE transfer_intents IS
        'Transfers that are about to be sent: gone when the ledger has them, or when they did not leave.';
      COMMENT ON COLUMN transfer_intents.run_id IS 'Run that sends them.';
      COMMENT ON COLUMN transfer_intents.chain_id IS 'Number of the chain.';
      COMMENT ON COLUMN transfer_intents.attempt IS 'Attempt of the run on the chain.';
      COMMENT ON COLUMN transfer_intents.portfolio_id IS 'Portfolio.';
      COMMENT ON COLUMN transfer_intents.account_id IS 'Account that sends them, CAIP-10.';
      COMMENT ON COLUMN transfer_intents.action_hash IS 'Hash that names the action that sends them.';
      COMMENT ON COLUMN transfer_intents.found_from IS
        'Block, or slot on Solana, from which on the action may be found.';
      COMMENT ON COLUMN transfer_intents.transfers IS 'Transfers, in their order.';
      COMMENT ON COLUMN transfer_intents.announced_at IS 'When they were written.';
    END $$`
})

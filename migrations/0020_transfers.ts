/**
 * The ledger of value between chains: one entry a transfer, watched by an operation of kind `bridge`. What is open is
 * owned by the portfolio and held by none of its accounts.
 */
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
      least_raw numeric(78, 0) NOT NULL,
      expected_raw numeric(78, 0) NOT NULL,
      bridge text COLLATE "C" NOT NULL,
      tool text NOT NULL,
      tx_hash text NOT NULL,
      state text NOT NULL CHECK (state IN ('open', 'delivered', 'partial', 'refunded', 'failed')),
      ending jsonb,
      opened_at timestamptz(3) NOT NULL,
      closed_at timestamptz(3),
      UNIQUE (run_id, chain_id, attempt, position),
      CHECK ((closed_at IS NULL) = (state = 'open'))
    )`
  yield* sql`CREATE INDEX transfers_open_of_portfolio ON transfers (portfolio_id) WHERE state = 'open'`
  yield* sql`CREATE INDEX transfers_sent ON transfers (account_id)`
  yield* sql`CREATE INDEX transfers_received ON transfers (destination_id)`
  yield* sql`CREATE INDEX transfers_open ON transfers (operation_id) WHERE state = 'open'`
})

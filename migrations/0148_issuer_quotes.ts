/** What issuers of tokens said a trade would bring, until it expires. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE issuer_quotes (
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios,
      quote_id text COLLATE "C" NOT NULL,
      sell text COLLATE "C" NOT NULL,
      buy text COLLATE "C" NOT NULL,
      amount_raw numeric NOT NULL,
      receive_raw numeric NOT NULL,
      expires_at timestamptz(3) NOT NULL,
      PRIMARY KEY (portfolio_id, quote_id)
    )`
})

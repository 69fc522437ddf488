/** Orders that owners request. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE orders (
      operation_id text COLLATE "C" PRIMARY KEY REFERENCES operations,
      portfolio_id text COLLATE "C" NOT NULL REFERENCES portfolios,
      request_id text COLLATE "C",
      request_hash bytea NOT NULL,
      correlation_id text COLLATE "C" NOT NULL,
      order_document jsonb NOT NULL,
      outcome jsonb
    )`
  yield* sql`CREATE UNIQUE INDEX orders_of_request ON orders (portfolio_id, request_id) WHERE request_id IS NOT NULL`
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE orders IS 'Orders that were accepted.';
      COMMENT ON COLUMN orders.operation_id IS 'Operation.';
      COMMENT ON COLUMN orders.portfolio_id IS 'Portfolio.';
      COMMENT ON COLUMN orders.request_id IS 'Id that the client gave the request, unique in the portfolio.';
      COMMENT ON COLUMN orders.request_hash IS 'Hash of the request: another one under the same id is refused.';
      COMMENT ON COLUMN orders.correlation_id IS 'Id by which the client follows it.';
      COMMENT ON COLUMN orders.order_document IS 'What was requested.';
      COMMENT ON COLUMN orders.outcome IS 'What became of it.';
    END $$`

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
  yield* sql`
    DO $$ BEGIN
      COMMENT ON TABLE issuer_quotes IS 'What issuers of tokens said that a trade would bring, until it expires.';
      COMMENT ON COLUMN issuer_quotes.portfolio_id IS 'Portfolio.';
      COMMENT ON COLUMN issuer_quotes.quote_id IS 'Id of the quote.';
      COMMENT ON COLUMN issuer_quotes.sell IS 'Asset that is sold, CAIP-19.';
      COMMENT ON COLUMN issuer_quotes.buy IS 'Asset that is bought, CAIP-19.';
      COMMENT ON COLUMN issuer_quotes.amount_raw IS 'What is sold, raw units.';
      COMMENT ON COLUMN issuer_quotes.receive_raw IS 'What would be received, raw units.';
      COMMENT ON COLUMN issuer_quotes.expires_at IS 'When it no longer holds.';
    END $$`
})

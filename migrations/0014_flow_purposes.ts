/**
 * A flow may add chains to a portfolio instead of making one; and authorizations store how the owner signs and what the
 * account was made with. Those from before name no domain for withdrawals: their accounts have no executor for them.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE enrollment_flows ADD COLUMN portfolio_id text COLLATE "C" REFERENCES portfolios`
  const before = '{"accountType": "ECDSA", "withdrawalDomainName": null}'
  yield* sql`UPDATE enrollment_flows SET authorization_document = authorization_document || ${before}::jsonb`
  yield* sql`UPDATE grants SET authorization_document = authorization_document || ${before}::jsonb`
})

/** What processes of before still say during a rolling upgrade: tables by the names that they had. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { submit, world } from "#test/layers/sql/fixtures.ts"
import { eachDatabase } from "#test/support/database.ts"

eachDatabase("tables by their former names", (it) => {
  it.effect("a process of before claims and completes drift checks", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO drift_checks VALUES ('former', NULL, now(), 'a', now(), 'b', now())`
      const known = sql`SELECT check_id FROM drift_checks WHERE check_id = 'former'`
      assert.lengthOf(yield* known, 1)
      assert.lengthOf(yield* sql`SELECT FROM drift_checks WHERE check_id = 'former' FOR UPDATE SKIP LOCKED`, 1)
      yield* sql`DELETE FROM drift_checks WHERE check_id = 'former'`
      assert.lengthOf(yield* known, 0)
    })
  )

  it.effect("a process of before records and cancels intents of transfers", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { portfolioId, tenantId } = yield* world()
      const { operationId } = yield* submit(tenantId, portfolioId)
      const record = sql`
        INSERT INTO transfer_intents
          (run_id, chain_id, attempt, portfolio_id, account_id, subject, from_block, transfers, announced_at)
        VALUES (${operationId}, 8453, 1, ${portfolioId}, 'account', 'subject', 1, '[]', now())
        ON CONFLICT DO NOTHING`
      const known = sql`SELECT FROM transfer_intents WHERE run_id = ${operationId}`
      yield* record
      yield* record
      assert.lengthOf(yield* known, 1)
      yield* sql`DELETE FROM transfer_intents WHERE run_id = ${operationId} AND chain_id = 8453 AND attempt = 1`
      assert.lengthOf(yield* known, 0)
    })
  )
})

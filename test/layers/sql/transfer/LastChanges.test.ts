import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "#domain/values/Caip.ts"
import { LastChanges } from "#domain/chain/LastChanges.ts"
import { arbitrum, base, noon, submit, usdc, world } from "#test/layers/sql/fixtures.ts"
import { eachDatabase } from "#test/support/database.ts"

/** Beyond what a double holds. */
const far = 2n ** 70n
const hash = `0x${"ab".repeat(32)}`

const accountsOf = Effect.map(world(), ({ portfolio, portfolioId, tenantId }) => ({
  account: portfolio.flow.authorization.chains[0].accountId,
  portfolioId,
  tenantId
}))

/** What the account did, with a receipt of the block. */
const acted = Effect.fnUntraced(function* (
  { account, portfolioId, tenantId }: Effect.Success<typeof accountsOf>,
  { attempt, block, status }: { readonly attempt: number; readonly block: bigint; readonly status: string }
) {
  const sql = yield* SqlClient.SqlClient
  const { operationId } = yield* submit(tenantId, portfolioId)
  const receipt = JSON.stringify({ blockNumber: block.toString() })
  yield* sql`
    INSERT INTO relayed_actions (operation_id, chain_id, attempt, account_id, action_hash, found_from, status, receipt,
      created_at, updated_at)
    VALUES (${operationId}, ${base}, ${attempt}, ${account}, ${hash}, 1, ${status}, ${receipt}::jsonb,
      ${new Date(noon.epochMilliseconds)}, ${new Date(noon.epochMilliseconds)})`
  yield* sql`UPDATE operations SET state = 'failed', finished_at = submitted_at WHERE operation_id = ${operationId}`
})

/** A transfer from `from` to `to` that has ended with something received in the block. */
const ended = Effect.fnUntraced(function* (
  { portfolioId, tenantId }: Effect.Success<typeof accountsOf>,
  transfer: { readonly from: AccountId; readonly to: AccountId; readonly state: string; readonly block: bigint | null }
) {
  const sql = yield* SqlClient.SqlClient
  const { operationId } = yield* submit(tenantId, portfolioId)
  const { block, from, state, to } = transfer
  const received = block === null ? null : { blockNumber: block.toString() }
  yield* sql`
    INSERT INTO transfers (operation_id, portfolio_id, run_id, chain_id, attempt, position, account_id, destination_id,
      sell, buy, amount_raw, min_raw, expected_raw, bridge_address, tool, tx_hash, state, ending, opened_at, closed_at)
    VALUES (${operationId}, ${portfolioId}, ${operationId}, ${base}, 1, 0, ${from}, ${to}, ${usdc}, ${usdc}, 1, 1, 1,
      ${hash}, 'vault', ${hash}, ${state}, ${JSON.stringify({ received })}::jsonb, ${new Date(noon.epochMilliseconds)},
      ${new Date(noon.epochMilliseconds)})`
  yield* sql`UPDATE operations SET state = 'failed', finished_at = submitted_at WHERE operation_id = ${operationId}`
})

const elsewhere = (account: AccountId) => account.replace(`eip155:${base}:`, `eip155:${arbitrum}:`) as AccountId

eachDatabase("LastChanges", (it) => {
  it.effect("of an account is the latest block of its receipts that moved something", () =>
    Effect.gen(function* () {
      const changes = yield* LastChanges
      const found = yield* accountsOf
      const { account } = found
      assert.deepStrictEqual(yield* changes.of([account]), new Map())
      yield* acted(found, { attempt: 1, block: far, status: "succeeded" })
      yield* acted(found, { attempt: 1, block: far - 1n, status: "succeeded" })
      yield* acted(found, { attempt: 1, block: far + 9n, status: "reverted" })
      assert.deepStrictEqual(yield* changes.of([account, account, elsewhere(account)]), new Map([[account, far]]))
    })
  )

  it.effect("is where a transfer arrived, or came back, where that is later", () =>
    Effect.gen(function* () {
      const changes = yield* LastChanges
      const found = yield* accountsOf
      const { account } = found
      const there = elsewhere(account)
      yield* acted(found, { attempt: 1, block: 10n, status: "succeeded" })
      yield* ended(found, { from: account, to: there, state: "delivered", block: 700n })
      yield* ended(found, { from: account, to: there, state: "partial", block: 701n })
      yield* ended(found, { from: account, to: there, state: "failed", block: null })
      assert.deepStrictEqual(
        yield* changes.of([account, there]),
        new Map([
          [account, 10n],
          [there, 701n]
        ])
      )
      yield* ended(found, { from: account, to: there, state: "refunded", block: 11n })
      assert.strictEqual((yield* changes.of([account])).get(account), 11n)
    })
  )
})

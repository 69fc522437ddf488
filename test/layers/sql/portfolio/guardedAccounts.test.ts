/** Which accounts of a portfolio are under the trade guard, as each grant writes it to the portfolio. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { PortfolioId } from "#domain/values/Ids.ts"
import { insertPortfolio, insertTenant, insertStrategy } from "#test/layers/sql/fixtures.ts"
import { eachDatabase } from "#test/support/database.ts"

eachDatabase("accounts under the guard", (it) => {
  it.effect("are those whose latest grant puts the agent under it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const strategy = yield* insertStrategy(yield* insertTenant)
      /** A portfolio of two accounts whose owner signed these, one after the other: on which chains for the guard. */
      const signed = Effect.fnUntraced(function* (...grants: ReadonlyArray<ReadonlyArray<readonly [string, boolean]>>) {
        const { portfolioId } = yield* insertPortfolio(strategy)
        const accounts = (id: string) => `eip155:8453:${portfolioId}${id}`
        yield* sql`DELETE FROM grants WHERE portfolio_id = ${portfolioId}`
        yield* sql`UPDATE portfolios SET guarded_account_ids = '{}' WHERE portfolio_id = ${portfolioId}`
        for (const [index, chains] of grants.entries()) {
          const document = {
            chains: chains.map(([id, isGuarded]) => ({
              accountId: accounts(id),
              policy: isGuarded ? { guard: {} } : {}
            }))
          }
          yield* sql`
            INSERT INTO grants (portfolio_id, sequence, authorization_document, owner_signature, granted_at)
            VALUES (${portfolioId}, ${index + 1}, ${JSON.stringify(document)}::text::jsonb, '0x', now())`
        }
        return portfolioId
      })
      const portfolioIds = [
        yield* signed([["a", false]]),
        yield* signed([["a", true]]),
        yield* signed([["a", false]], [["a", true]]),
        yield* signed([["a", true]], [["a", false]]),
        yield* signed(
          [
            ["a", true],
            ["b", false]
          ],
          [["b", true]]
        ),
        yield* signed(
          [
            ["a", true],
            ["b", true]
          ],
          [["a", false]]
        )
      ]
      const guarded = Effect.map(
        sql<{ readonly id: PortfolioId; readonly accounts: ReadonlyArray<string> }>`
          SELECT portfolio_id AS id, guarded_account_ids AS accounts FROM portfolios
          WHERE portfolio_id = ANY(${portfolioIds}::text[])`,
        (rows) =>
          portfolioIds.map((id) =>
            rows
              .find((row) => row.id === id)!
              .accounts.map((one) => one.at(-1))
              .toSorted()
          )
      )
      assert.deepStrictEqual(yield* guarded, [[], ["a"], ["a"], [], ["a", "b"], ["b"]])
    })
  )
})

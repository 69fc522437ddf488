/** The blocks in which accounts changed, by receipts and by transfers that arrived or came back, in PostgreSQL. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "#domain/values/Caip.ts"
import { LastChanges } from "#domain/chain/LastChanges.ts"
import { batched } from "#domain/effects/batched.ts"
import { decodeRows, Numeric } from "#layers/sql/rows.ts"

const allChanges = decodeRows(Schema.Struct({ accountId: AccountId, blockNumber: Numeric }))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  /** Each of the three is one lookup in an index. */
  const lastOf = yield* batched(
    (account) => account,
    (accounts: ReadonlyArray<AccountId>) =>
      Effect.map(
        allChanges(sql`
          SELECT w.account_id AS "accountId", max(c.block) AS "blockNumber"
          FROM unnest(${accounts}::text[]) AS w (account_id)
          CROSS JOIN LATERAL (
            (SELECT (a.receipt ->> 'blockNumber')::numeric AS block FROM relayed_actions a
              WHERE a.account_id = w.account_id AND a.status = 'succeeded'
              ORDER BY (a.receipt ->> 'blockNumber')::numeric DESC LIMIT 1)
            UNION ALL
            (SELECT (t.ending #>> '{received,blockNumber}')::numeric FROM transfers t
              WHERE t.destination_id = w.account_id AND t.state IN ('delivered', 'partial')
                AND t.ending #>> '{received,blockNumber}' IS NOT NULL
              ORDER BY (t.ending #>> '{received,blockNumber}')::numeric DESC LIMIT 1)
            UNION ALL
            (SELECT (t.ending #>> '{received,blockNumber}')::numeric FROM transfers t
              WHERE t.account_id = w.account_id AND t.state = 'refunded'
                AND t.ending #>> '{received,blockNumber}' IS NOT NULL
              ORDER BY (t.ending #>> '{received,blockNumber}')::numeric DESC LIMIT 1)
          ) c
          GROUP BY w.account_id`),
        (rows) => {
          const found = new Map(rows.map(({ accountId, blockNumber }) => [accountId, blockNumber]))
          return (account: AccountId) => found.get(account)
        }
      )
  )

  return LastChanges.of({
    of: Effect.fn("LastChanges.of")(function* (accounts: ReadonlyArray<AccountId>) {
      const asked = [...new Set(accounts)]
      const found = yield* Effect.forEach(asked, lastOf, { concurrency: "unbounded" })
      return new Map(
        asked.flatMap((account, index) => (found[index] === undefined ? [] : [[account, found[index]!] as const]))
      )
    }, Effect.orDie)
  })
})

export const layer = Layer.effect(LastChanges, make)

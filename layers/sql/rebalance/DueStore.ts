/** Due portfolios in PostgreSQL. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { PortfolioId } from "#domain/values/Ids.ts"
import { type Candidate, DueStore } from "#domain/rebalance/DueStore.ts"
import { makeCadenceChanges } from "#layers/sql/strategy/cadenceChanges.ts"
import { makeCompleteDue, revisionOf } from "#layers/sql/rebalance/completeDue.ts"
import { ContextColumns, joinContext, selectContext, toContext } from "#layers/sql/rebalance/planContexts.ts"
import { decodeRows } from "#layers/sql/rows.ts"
import { makeClaimDue } from "#layers/sql/rebalance/claimDue.ts"

const allCandidates = decodeRows(Schema.Struct({ ...ContextColumns, revision: Schema.String }))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const candidates = Effect.fn("DueStore.candidates")((portfolioIds: ReadonlyArray<PortfolioId>) =>
    Effect.map(
      allCandidates(sql`
        SELECT ${sql.literal(selectContext)}, ${sql.literal(revisionOf)} AS revision
        FROM portfolios p ${sql.literal(joinContext)}
        JOIN schedules c ON c.portfolio_id = p.portfolio_id
        WHERE p.portfolio_id = ANY(${portfolioIds}::text[])
          AND c.checked_at IS NOT NULL AND p.strategy_version = s.head_version
          AND NOT EXISTS (
            SELECT FROM operations o
            WHERE o.portfolio_id = p.portfolio_id AND o.kind = 'rebalance' AND o.finished_at IS NULL
              AND o.state <> 'awaiting_user'
          )
          AND NOT EXISTS (SELECT FROM foreign_authorities a WHERE a.portfolio_id = p.portfolio_id)
          AND NOT EXISTS (SELECT FROM transfer_intents d WHERE d.portfolio_id = p.portfolio_id)`),
      (rows) => rows.map((row): Candidate => ({ context: toContext(row), revision: row.revision }))
    )
  )

  return DueStore.of({
    claim: yield* makeClaimDue(sql),
    candidates,
    complete: yield* makeCompleteDue(sql),
    moveToCadence: (yield* makeCadenceChanges(sql)).move
  })
})

export const layer = Layer.effect(DueStore, make)

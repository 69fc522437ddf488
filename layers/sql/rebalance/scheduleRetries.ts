/** Makes portfolios due again soon whose runs were incomplete, and forgets the count of those whose were not. */
import { Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { PortfolioId } from "#domain/Ids.ts"
import { Frequency, intervalMs } from "#domain/RebalanceSchedule.ts"
import { retryDelayMs } from "#domain/rebalance/retryDelay.ts"
import { decodeRows } from "#layers/sql/rows.ts"

/** A run that has ended. */
interface Ended {
  readonly portfolioId: string
  readonly at: Date
  readonly isIncomplete: boolean | undefined
}

const allSchedules = decodeRows(Schema.Struct({ portfolioId: PortfolioId, retries: Schema.Int, frequency: Frequency }))

/** Part of the caller's transaction, which holds the portfolios. A due time is only ever brought forward. */
export const makeScheduleRetries = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const random = yield* SecureRandom.SecureRandom

  return Effect.fnUntraced(function* (ended: ReadonlyArray<Ended>) {
    const complete = ended.flatMap(({ isIncomplete, portfolioId }) => (isIncomplete === true ? [] : [portfolioId]))
    if (complete.length > 0)
      yield* sql`UPDATE schedules SET retries = 0 WHERE portfolio_id = ANY(${complete}::text[]) AND retries > 0`
    const incomplete = new Map(
      ended.flatMap(({ at, isIncomplete, portfolioId }) => (isIncomplete === true ? [[portfolioId, at] as const] : []))
    )
    if (incomplete.size === 0) return
    const schedules = yield* allSchedules(sql`
      SELECT c.portfolio_id AS "portfolioId", c.retries, slower_frequency(s.frequency, m.frequency) AS frequency
      FROM schedules c JOIN strategies s ON s.strategy_id = c.strategy_id
      LEFT JOIN mirror_terms m ON m.strategy_id = c.strategy_id AND m.tenant_id = c.tenant_id
      WHERE c.portfolio_id = ANY(${[...incomplete.keys()]}::text[]) AND c.status = 'active'
      ORDER BY c.portfolio_id FOR NO KEY UPDATE OF c`)
    const dueAt = yield* Effect.forEach(schedules, ({ frequency, portfolioId, retries }) =>
      Effect.map(random.intBetween(0, 1_000), (permille) => {
        const delay = retryDelayMs(retries, intervalMs[frequency], permille / 1_000)
        return new Date(incomplete.get(portfolioId)!.getTime() + delay)
      })
    )
    yield* sql`
      UPDATE schedules c SET due_at = least(c.due_at, r.due_at), retries = c.retries + 1, updated_at = r.at
      FROM unnest(${schedules.map(({ portfolioId }) => portfolioId)}::text[], ${dueAt}::timestamptz[],
        ${schedules.map(({ portfolioId }) => incomplete.get(portfolioId)!)}::timestamptz[]) AS r (portfolio_id, due_at, at)
      WHERE c.portfolio_id = r.portfolio_id`
  })
})

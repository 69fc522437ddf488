/** Makes portfolios due again soon whose runs were incomplete, and resets the count of the others. */
import { Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { PortfolioId } from "#domain/values/Ids.ts"
import { Frequency, intervalMs } from "#domain/mandate/RebalanceSchedule.ts"
import { retryDelayMs, sliceDelayMs, type Slices } from "#domain/rebalance/retryDelay.ts"
import { decodeRows } from "#layers/sql/rows.ts"

/** A run that has ended. */
interface Ended {
  readonly portfolioId: PortfolioId
  readonly at: Date
  readonly isIncomplete: boolean | undefined
  readonly slices: Slices | undefined
}

const Row = Schema.Struct({
  portfolioId: PortfolioId,
  retries: Schema.Int,
  dueAt: Schema.Date,
  /** Due time of the portfolio without the slices that its last runs have left; null when they left none. */
  slicesUntil: Schema.NullOr(Schema.Date),
  frequency: Frequency
})
type Row = typeof Row.Type
const allSchedules = decodeRows(Row)

/** Part of the caller's transaction, which holds the portfolios. A due time is only ever brought forward. */
export const makeScheduleRetries = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const random = yield* SecureRandom.SecureRandom

  return Effect.fnUntraced(function* (ended: ReadonlyArray<Ended>) {
    const complete = ended.filter(({ isIncomplete }) => isIncomplete !== true)
    if (complete.length > 0) {
      // The last slice is made: the portfolio is due as if there had been none.
      yield* sql`
        UPDATE schedules c SET retries = 0, slices_until = NULL,
          due_at = CASE WHEN c.slices_until > r.at THEN least(c.due_at, c.slices_until) ELSE c.due_at END
        FROM unnest(${complete.map(({ portfolioId }) => portfolioId)}::text[],
          ${complete.map(({ at }) => at)}::timestamptz[])
          AS r (portfolio_id, at)
        WHERE c.portfolio_id = r.portfolio_id AND (c.retries > 0 OR c.slices_until IS NOT NULL)`
    }
    const incomplete = new Map(
      ended.flatMap((one) => (one.isIncomplete === true ? [[one.portfolioId, one] as const] : []))
    )
    if (incomplete.size === 0) return
    const schedules = yield* allSchedules(sql`
      SELECT c.portfolio_id AS "portfolioId", c.retries, c.due_at AS "dueAt", c.slices_until AS "slicesUntil",
        slower_frequency(s.frequency, m.frequency) AS frequency
      FROM schedules c JOIN strategies s ON s.strategy_id = c.strategy_id
      LEFT JOIN mirror_terms m ON m.strategy_id = c.strategy_id AND m.tenant_id = c.tenant_id
      WHERE c.portfolio_id = ANY(${[...incomplete.keys()]}::text[]) AND c.status = 'active'
      ORDER BY c.portfolio_id FOR NO KEY UPDATE OF c`)
    const next = yield* Effect.forEach(schedules, (schedule) =>
      Effect.map(random.intBetween(0, 1_000), (permille) =>
        nextCheck(incomplete.get(schedule.portfolioId)!, schedule, permille / 1_000)
      )
    )
    yield* sql`
      UPDATE schedules c SET due_at = least(c.due_at, r.due_at), retries = r.retries,
        slices_until = nullif(r.slices_until, '')::timestamptz,
        updated_at = r.at
      FROM unnest(${next.map(({ portfolioId }) => portfolioId)}::text[], ${next.map(({ at }) => at)}::timestamptz[],
        ${next.map(({ dueAt }) => dueAt)}::timestamptz[], ${next.map(({ retries }) => retries)}::int[],
        ${next.map(({ slicesUntil }) => slicesUntil?.toISOString() ?? "")}::text[])
        AS r (portfolio_id, at, due_at, retries, slices_until)
      WHERE c.portfolio_id = r.portfolio_id`
  })
})

const nextCheck = (
  { at, slices }: Ended,
  { dueAt, frequency, portfolioId, retries, slicesUntil }: Row,
  chance: number
) => {
  const period = intervalMs[frequency]
  const after = (delay: number) => new Date(at.getTime() + delay)
  if (slices === undefined) {
    return { portfolioId, at, dueAt: after(retryDelayMs(retries, period, chance)), retries: retries + 1, slicesUntil }
  }
  // A period that ended with slices left is followed by another one.
  const until = slicesUntil !== null && slicesUntil > at ? slicesUntil : dueAt
  const untilDueMs = Math.max(0, until.getTime() - at.getTime())
  const delay = sliceDelayMs(slices, { retries, intervalMs: period, untilDueMs, chance })
  return {
    portfolioId,
    at,
    dueAt: after(untilDueMs === 0 ? delay : Math.min(delay, untilDueMs)),
    // A market that takes slices has not refused: what it refuses later is the first time.
    retries: slices.left > 0 ? 1 : retries + 1,
    slicesUntil: until
  }
}

/**
 * Concludes looks at due portfolios: in the transaction that moves them to their next due time it accepts the operations
 * of those that get a run. Whatever happened since the look is seen here: a schedule that moved, and for those on target
 * everything that a plan follows from.
 */
import { type DateTime, Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { makeOperationId, type OperationId, PortfolioId } from "#domain/Ids.ts"
import type { Concluded, Conclusion } from "#domain/rebalance/DueStore.ts"
import { Frequency, nextDueAt } from "#domain/RebalanceSchedule.ts"
import { firstEvents } from "#layers/sql/operationEvents.ts"
import { decodeRows, Timestamp, timestamp } from "#layers/sql/rows.ts"

const allHeld = decodeRows(Schema.Struct({ portfolioId: PortfolioId, dueAt: Timestamp, frequency: Frequency }))
const allIds = decodeRows(Schema.Struct({ portfolioId: PortfolioId }))

/** Text that changes with whatever a plan follows from, of a portfolio `p`, its strategy `s` and its tenant `t`. */
export const markOf = `
  jsonb_build_array(s.head_version, s.threshold_usd, t.threshold_usd, extract(epoch FROM p.updated_at),
    (SELECT count(*) FROM grants g WHERE g.portfolio_id = p.portfolio_id),
    (SELECT count(*) FROM awaited_signatures a WHERE a.portfolio_id = p.portfolio_id))::text`

export const makeConcludeDue = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const random = yield* SecureRandom.SecureRandom

  // Materialized, so that the locking part runs once whatever the planner makes of the joins. The strategy's row is held
  // until the due time that its cadence gives is written, so that a change of cadence comes before or after, never
  // between; what is being changed right now is left for the next look.
  const lock = (conclusions: ReadonlyArray<Conclusion>) =>
    allHeld(sql`
      WITH due AS MATERIALIZED (
        SELECT c.portfolio_id, c.due_at
        FROM unnest(${conclusions.map(({ portfolioId }) => portfolioId)}::text[],
          ${conclusions.map(({ dueAt }) => timestamp(dueAt))}::timestamptz[]) AS looked (portfolio_id, due_at)
        JOIN schedules c ON c.portfolio_id = looked.portfolio_id
        WHERE c.status = 'active' AND c.due_at = looked.due_at
        FOR UPDATE OF c SKIP LOCKED
      )
      SELECT due.portfolio_id AS "portfolioId", due.due_at AS "dueAt", s.frequency
      FROM due
      JOIN portfolios p ON p.portfolio_id = due.portfolio_id
      JOIN strategies s ON s.strategy_id = p.strategy_id
      FOR SHARE OF s SKIP LOCKED`)

  // A statement of its own, after the locks: it sees all that was written before they were held. What is written later
  // finds the next due time and, where it has to, makes the portfolio due again.
  const unchanged = (marks: ReadonlyMap<PortfolioId, string>) =>
    marks.size === 0
      ? Effect.succeed([])
      : allIds(sql`
          SELECT p.portfolio_id AS "portfolioId"
          FROM unnest(${[...marks.keys()]}::text[], ${[...marks.values()]}::text[]) AS looked (portfolio_id, mark)
          JOIN portfolios p ON p.portfolio_id = looked.portfolio_id
          JOIN strategies s ON s.strategy_id = p.strategy_id
          JOIN tenants t ON t.tenant_id = p.tenant_id
          WHERE looked.mark = ${sql.literal(markOf)}`)

  // And the looks of those that died, so that there are never more than there are processes and a few.
  const endLook = (now: Date, lookId: string) =>
    sql`DELETE FROM schedule_looks WHERE look_id = ${lookId} OR until <= ${now}`

  const move = (now: Date, portfolioIds: ReadonlyArray<PortfolioId>, dueAts: ReadonlyArray<Date>) => sql`
    UPDATE schedules c SET due_at = next.due_at, checked_at = ${now}, updated_at = ${now}
    FROM unnest(${portfolioIds}::text[], ${dueAts}::timestamptz[]) AS next (portfolio_id, due_at)
    WHERE c.portfolio_id = next.portfolio_id`

  // The look for unfinished runs spares the wait on a run that is just finishing; the index catches what it misses.
  const accept = (now: Date, operationIds: ReadonlyArray<string>, portfolioIds: ReadonlyArray<PortfolioId>) => sql`
    INSERT INTO operations (operation_id, tenant_id, portfolio_id, kind, trigger, state, submitted_at, updated_at, last_sequence)
    SELECT due.operation_id, p.tenant_id, p.portfolio_id, 'rebalance', 'scheduled', 'accepted', ${now}, ${now}, 1
    FROM unnest(${operationIds}::text[], ${portfolioIds}::text[]) AS due (operation_id, portfolio_id)
    JOIN portfolios p ON p.portfolio_id = due.portfolio_id
    WHERE NOT EXISTS (
      SELECT FROM operations o
      WHERE o.portfolio_id = p.portfolio_id AND o.kind = 'rebalance' AND o.finished_at IS NULL
        AND o.state <> 'awaiting_user'
    )
    ON CONFLICT DO NOTHING RETURNING operation_id, submitted_at, trigger`

  return Effect.fn("DueStore.conclude")(
    function* (now: DateTime.Utc, lookId: string, conclusions: ReadonlyArray<Conclusion>) {
      const at = timestamp(now)
      const marks = new Map(conclusions.map(({ onTargetAt, portfolioId }) => [portfolioId, onTargetAt]))
      const held = yield* lock(conclusions)
      const onTarget = held.flatMap(({ portfolioId }) => {
        const mark = marks.get(portfolioId) ?? null
        return mark === null ? [] : [[portfolioId, mark] as const]
      })
      const still = new Set((yield* unchanged(new Map(onTarget))).map(({ portfolioId }) => portfolioId))
      const changed = new Set(onTarget.map(([portfolioId]) => portfolioId).filter((id) => !still.has(id)))
      const moved = held.filter(({ portfolioId }) => !changed.has(portfolioId))
      const toRun = moved.flatMap(({ portfolioId }) => (still.has(portfolioId) ? [] : [portfolioId]))
      const movedIds = moved.map(({ portfolioId }) => portfolioId)
      const dueAts = moved.map((row) => timestamp(nextDueAt(row.dueAt, now, row.frequency)))
      const counts = { onTarget: still.size, left: conclusions.length - moved.length }
      const over = sql`ended AS (${endLook(at, lookId)}), moved AS (${move(at, movedIds, dueAts)})`
      if (toRun.length === 0) {
        yield* sql`WITH ${over} SELECT 1`
        return { operationIds: [], ...counts } satisfies Concluded
      }
      const operationIds = yield* Effect.forEach(toRun, () => makeOperationId).pipe(
        Effect.provideService(SecureRandom.SecureRandom, random)
      )
      const accepted = yield* sql<{ readonly operation_id: OperationId }>`
        WITH ${over}, inserted AS (${accept(at, operationIds, toRun)})
        ${firstEvents(sql)} RETURNING operation_id`
      return { operationIds: accepted.map((row) => row.operation_id), ...counts } satisfies Concluded
    },
    sql.withTransaction,
    Effect.orDie
  )
})

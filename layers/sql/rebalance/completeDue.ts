/**
 * Completes drift checks of due portfolios. What changed since the check is found here: a schedule that moved, a
 * cadence that changed, and for those on target every input of a plan. Those stay due.
 *
 * Due times are compared under the row's lock, and the strategy's row is held until the due time that its cadence gives
 * is written, so that a change of cadence comes before or after, never between (configureStrategy.ts). What is being
 * changed right now is passed over.
 */
import { type DateTime, Effect, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { makeOperationId, OperationId, PortfolioId, type CheckId } from "#domain/values/Ids.ts"
import type { Concluded, Conclusion, Due } from "#domain/rebalance/DueStore.ts"
import { nextDueAt } from "#domain/mandate/RebalanceSchedule.ts"
import { firstEvents } from "#layers/sql/operation/operationEvents.ts"
import { decodeFirst, decodeRows, timestamp } from "#layers/sql/rows.ts"

const allIds = decodeRows(Schema.Struct({ portfolioId: PortfolioId }))
const firstStarted = decodeFirst(Schema.Struct({ moved: Schema.Int, operationIds: Schema.Array(OperationId) }))

/** Text that changes with whatever a plan follows from, of a portfolio `p`, its strategy `s` and its tenant `t`. */
export const revisionOf = `
  jsonb_build_array(s.head_version, s.threshold_usd, t.threshold_usd, s.rebalance_policy, t.rebalance_policy,
    extract(epoch FROM p.updated_at),
    (SELECT m.threshold_usd FROM mirror_terms m WHERE m.strategy_id = p.strategy_id AND m.tenant_id = p.tenant_id),
    (SELECT count(*) FROM grants g WHERE g.portfolio_id = p.portfolio_id),
    (SELECT count(*) FROM awaited_signatures a WHERE a.portfolio_id = p.portfolio_id))::text`

export const makeCompleteDue = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const random = yield* SecureRandom.SecureRandom

  /** The rows `checked`, each with a text of its own. */
  const checkedAt = (now: DateTime.Utc, due: ReadonlyArray<Due>, texts: ReadonlyArray<string>) => sql`
    unnest(${due.map(({ portfolioId }) => portfolioId)}::text[],
      ${due.map(({ dueAt }) => timestamp(dueAt))}::timestamptz[],
      ${due.map(({ frequency }) => frequency)}::text[],
      ${due.map(({ dueAt, frequency }) => timestamp(nextDueAt(dueAt, now, frequency)))}::timestamptz[],
      ${texts}::text[])
      AS checked (portfolio_id, due_at, frequency, next_due_at, text)`

  /**
   * Selects and locks those that are due as they were claimed: one lookup in either index for each, whatever is
   * planned.
   */
  const hold = (checked: Fragment) => sql`
    SELECT checked.portfolio_id, checked.next_due_at, checked.text FROM ${checked} CROSS JOIN LATERAL (
      SELECT c.strategy_id, c.tenant_id FROM schedules c
      WHERE c.portfolio_id = checked.portfolio_id AND c.status = 'active' AND c.due_at = checked.due_at
      FOR UPDATE SKIP LOCKED
    ) c CROSS JOIN LATERAL (
      SELECT FROM strategies s
      WHERE s.strategy_id = c.strategy_id AND checked.frequency = slower_frequency(s.frequency, (
        SELECT m.frequency FROM mirror_terms m WHERE m.strategy_id = c.strategy_id AND m.tenant_id = c.tenant_id
      ))
      FOR SHARE SKIP LOCKED
    ) s`

  // Revisions are compared in a statement of its own, after the locks: it sees all that was written before they were
  // held. What is written later finds the next due time and, where it has to, makes the portfolio due again.
  const advance = Effect.fnUntraced(function* (
    now: DateTime.Utc,
    due: ReadonlyArray<Due>,
    revisions: ReadonlyArray<string>
  ) {
    const at = timestamp(now)
    const checked = checkedAt(now, due, revisions)
    const held = yield* allIds(sql`WITH held AS (${hold(checked)}) SELECT portfolio_id AS "portfolioId" FROM held`)
    const advanced = yield* sql`
      UPDATE schedules c SET checked_at = ${at}, retries = 0, slices_until = NULL, updated_at = ${at},
        due_at = CASE WHEN c.slices_until > ${at} THEN least(checked.next_due_at, c.slices_until)
        ELSE checked.next_due_at END
      FROM ${checked}
      JOIN portfolios p ON p.portfolio_id = checked.portfolio_id
      JOIN strategies s ON s.strategy_id = p.strategy_id
      JOIN tenants t ON t.tenant_id = p.tenant_id
      WHERE c.portfolio_id = checked.portfolio_id AND checked.text = ${sql.literal(revisionOf)}
        AND checked.portfolio_id = ANY(${held.map(({ portfolioId }) => portfolioId)}::text[])
      RETURNING 1`
    return advanced.length
  }, sql.withTransaction)

  // One statement, held rows materialized so that they are locked once whatever the planner makes of the rest. The
  // condition on unfinished runs spares the wait on a run that is just finishing; the index catches what it misses.
  // Claims of processes that died are deleted too, so that there are few more than processes.
  const start = Effect.fnUntraced(
    function* (now: DateTime.Utc, checkId: CheckId, due: ReadonlyArray<Due>) {
      const at = timestamp(now)
      const operationIds = yield* Effect.forEach(due, () => makeOperationId)
      return yield* firstStarted(sql`
        WITH held AS MATERIALIZED (${hold(checkedAt(now, due, operationIds))}), moved AS (
          UPDATE schedules c SET due_at = held.next_due_at, checked_at = ${at}, updated_at = ${at}
          FROM held WHERE c.portfolio_id = held.portfolio_id
          RETURNING c.portfolio_id, c.tenant_id, held.text AS operation_id
        ), inserted AS (
          INSERT INTO operations
            (operation_id, tenant_id, portfolio_id, kind, trigger, state, submitted_at, updated_at, last_sequence)
          SELECT operation_id, tenant_id, portfolio_id, 'rebalance', 'scheduled', 'accepted', ${at}, ${at}, 1 FROM moved
          WHERE NOT EXISTS (
            SELECT FROM operations o
            WHERE o.portfolio_id = moved.portfolio_id AND o.kind = 'rebalance' AND o.finished_at IS NULL
              AND o.state <> 'awaiting_user'
          )
          ON CONFLICT DO NOTHING RETURNING operation_id, submitted_at, trigger
        ), begun AS (${firstEvents(sql)} RETURNING operation_id), ended AS (
          DELETE FROM drift_checks WHERE check_id = ${checkId} OR until <= ${at}
        )
        SELECT (SELECT count(*)::int FROM moved) AS moved, ARRAY(SELECT operation_id FROM begun) AS "operationIds"`)
    },
    Effect.map(Option.getOrThrow),
    Effect.provideService(SecureRandom.SecureRandom, random)
  )

  return Effect.fn("DueStore.complete")(function* (
    now: DateTime.Utc,
    checkId: CheckId,
    conclusions: ReadonlyArray<Conclusion>
  ) {
    const onTarget = conclusions.flatMap(({ onTargetAt, ...due }) => (onTargetAt === null ? [] : [{ due, onTargetAt }]))
    const advanced =
      onTarget.length === 0
        ? 0
        : yield* advance(
            now,
            onTarget.map(({ due }) => due),
            onTarget.map(({ onTargetAt }) => onTargetAt)
          )
    const { moved, operationIds } = yield* start(
      now,
      checkId,
      conclusions.filter(({ onTargetAt }) => onTargetAt === null)
    )
    return { operationIds, onTarget: advanced, left: conclusions.length - advanced - moved } satisfies Concluded
  }, Effect.orDie)
})

/**
 * Moves due times to a cadence that changed: a batch of portfolios in each transaction, so that locks are short, and a
 * position where the next one begins, so that a crash loses nothing.
 *
 * A change of cadence writes the strategy's row first, and so waits for claims that read the old one. A batch comes
 * after that. What is due already is left to the claims; a portfolio that was not checked yet, or is due early after an
 * incomplete run, keeps its due time.
 */
import { type DateTime, Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { PortfolioId, StrategyId, type TenantId } from "#domain/values/Ids.ts"
import { movedDueAt } from "#domain/strategy/movedDueAt.ts"
import { Frequency, intervalMs } from "#domain/mandate/RebalanceSchedule.ts"
import { decodeFirst, decodeRows, Timestamp, timestamp } from "#layers/sql/rows.ts"

/** Portfolios of one transaction. */
const batchSize = 500

const firstChange = decodeFirst(
  Schema.Struct({ strategyId: StrategyId, tenantId: Schema.String, after: Schema.String })
)
const allSchedules = decodeRows(Schema.Struct({ portfolioId: PortfolioId, checkedAt: Timestamp, frequency: Frequency }))

export const makeCadenceChanges = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const random = yield* SecureRandom.SecureRandom

  /** Part of the transaction that changes the cadence. One that is still on its way begins anew. */
  const request = (strategyId: StrategyId, tenantId: TenantId | "") => sql`
    INSERT INTO cadence_changes (strategy_id, tenant_id, after_portfolio_id) VALUES (${strategyId}, ${tenantId}, '')
    ON CONFLICT (strategy_id, tenant_id) DO UPDATE SET after_portfolio_id = ''`

  const moveAll = Effect.fnUntraced(function* (portfolioIds: ReadonlyArray<PortfolioId>, now: DateTime.Utc) {
    const at = timestamp(now)
    const schedules = yield* allSchedules(sql`
      SELECT c.portfolio_id AS "portfolioId", c.checked_at AS "checkedAt",
        slower_frequency(s.frequency, m.frequency) AS frequency
      FROM schedules c JOIN strategies s ON s.strategy_id = c.strategy_id
      LEFT JOIN mirror_terms m ON m.strategy_id = c.strategy_id AND m.tenant_id = c.tenant_id
      WHERE c.portfolio_id = ANY(${portfolioIds}::text[]) AND c.status = 'active' AND c.due_at > ${at}
        AND c.checked_at IS NOT NULL AND c.retries = 0
      ORDER BY c.portfolio_id FOR NO KEY UPDATE OF c`)
    const dueAt = yield* Effect.forEach(schedules, ({ checkedAt, frequency }) =>
      Effect.map(
        random.intBetween(0, 999_999),
        (chance) =>
          new Date(
            movedDueAt(
              { began: checkedAt.epochMilliseconds, intervalMs: intervalMs[frequency] },
              now.epochMilliseconds,
              chance / 1_000_000
            )
          )
      )
    )
    yield* sql`
      UPDATE schedules c SET due_at = moved.due_at, updated_at = ${at}
      FROM unnest(${schedules.map(({ portfolioId }) => portfolioId)}::text[], ${dueAt}::timestamptz[])
        AS moved (portfolio_id, due_at)
      WHERE c.portfolio_id = moved.portfolio_id`
  })

  /** The next batch of a change that no other process works on; true when there may be more to do. */
  const move = Effect.fn("DueStore.moveToCadence")(
    function* (now: DateTime.Utc) {
      const change = yield* firstChange(sql`
        SELECT strategy_id AS "strategyId", tenant_id AS "tenantId", after_portfolio_id AS after
        FROM cadence_changes ORDER BY strategy_id, tenant_id LIMIT 1 FOR UPDATE SKIP LOCKED`)
      if (change._tag === "None") return false
      const { after, strategyId, tenantId } = change.value
      const rows = yield* sql<{ readonly portfolio_id: PortfolioId }>`
        SELECT portfolio_id FROM portfolios
        WHERE strategy_id = ${strategyId} AND archived_at IS NULL AND portfolio_id > ${after}
          AND (${tenantId} = '' OR tenant_id = ${tenantId})
        ORDER BY portfolio_id LIMIT ${batchSize}`
      const portfolioIds = rows.map((row) => row.portfolio_id)
      yield* moveAll(portfolioIds, now)
      yield* portfolioIds.length < batchSize
        ? sql`DELETE FROM cadence_changes WHERE strategy_id = ${strategyId} AND tenant_id = ${tenantId}`
        : sql`
            UPDATE cadence_changes SET after_portfolio_id = ${portfolioIds.at(-1)}
            WHERE strategy_id = ${strategyId} AND tenant_id = ${tenantId}`
      return true
    },
    sql.withTransaction,
    Effect.orDie
  )

  return { request, move }
})

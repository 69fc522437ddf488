/** The analytics of discovery in PostgreSQL. Only rows that change are written, since most do not. */
import { DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AnalyticsStore, type MeasuredWindows, type Measuring } from "#domain/discovery/AnalyticsStore.ts"
import { StrategyId } from "#domain/values/Ids.ts"
import { encodeWindows } from "#layers/sql/discovery/windowColumns.ts"
import { decodeRows, timestamp } from "#layers/sql/rows.ts"
import { storableJson } from "#layers/sql/storable.ts"

const outdatedRows = decodeRows(Schema.Struct({ strategyId: StrategyId }))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const claim = Effect.fn("AnalyticsStore.claim")(function* (now: DateTime.Utc, notSince: DateTime.Utc) {
    const claimed = yield* sql`
      UPDATE discovery_analytics SET claimed_at = ${timestamp(now)}
      WHERE claimed_at IS NULL OR claimed_at <= ${timestamp(notSince)} RETURNING 1`
    return claimed.length > 0
  }, Effect.orDie)

  const measure = Effect.fn("AnalyticsStore.measure")(function* (measuring: Measuring) {
    const fresh = timestamp(measuring.freshSince)
    const valuedIfBefore = timestamp(measuring.valuedIfBefore)
    const flowsFrom = DateTime.formatIsoDateUtc(measuring.flowsSince)
    // A week of valuations of each portfolio by primary key; the newest of them is its value.
    yield* sql`
      UPDATE discovery_entries e
      SET tvl_usd = m.tvl_usd, inflows_7d_usd = m.inflows_7d_usd, users = m.users, portfolio_count = m.portfolio_count
      FROM (
        SELECT strategy_id, users, portfolio_count,
          CASE WHEN unvalued = 0 THEN tvl_usd END AS tvl_usd,
          CASE WHEN unvalued = 0 THEN inflows_7d_usd END AS inflows_7d_usd
        FROM (
          SELECT d.strategy_id,
            count(DISTINCT p.owner_account_id) FILTER (WHERE p.is_active) AS users,
            count(*) FILTER (WHERE p.is_active) AS portfolio_count,
            count(*) FILTER (
              WHERE p.is_active
                AND CASE WHEN w.valued_at IS NULL THEN p.created_at < ${valuedIfBefore} ELSE w.valued_at < ${fresh} END
            ) AS unvalued,
            coalesce(sum(w.value_usd) FILTER (WHERE p.is_active), 0) AS tvl_usd,
            coalesce(sum(w.flow_usd), 0) AS inflows_7d_usd
          FROM discovery_entries d
          LEFT JOIN (
            SELECT f.strategy_id, f.portfolio_id, f.owner_account_id, f.created_at,
              f.archived_at IS NULL AND c.portfolio_id IS NOT NULL AS is_active
            FROM portfolios f
            LEFT JOIN schedules c ON c.portfolio_id = f.portfolio_id AND c.status = 'active'
          ) p ON p.strategy_id = d.strategy_id
          LEFT JOIN LATERAL (
            SELECT sum(v.cash_flow_usd) AS flow_usd, max(v.valued_at) AS valued_at,
              (array_agg(v.value_usd ORDER BY v.day DESC))[1] AS value_usd
            FROM portfolio_valuations v
            WHERE v.portfolio_id = p.portfolio_id AND v.day >= ${flowsFrom}::date
          ) w ON true
          GROUP BY d.strategy_id
        ) summed
      ) m
      WHERE m.strategy_id = e.strategy_id
        AND (e.tvl_usd, e.inflows_7d_usd, e.users, e.portfolio_count)
          IS DISTINCT FROM (m.tvl_usd, m.inflows_7d_usd, m.users, m.portfolio_count)`
    const [unknown] = yield* sql<{ readonly count: number }>`
      SELECT count(*)::int AS count FROM discovery_entries WHERE tvl_usd IS NULL`
    return unknown?.count ?? 0
  }, Effect.orDie)

  const outdated = Effect.fn("AnalyticsStore.outdated")((before: DateTime.Utc, limit: number) =>
    Effect.map(
      outdatedRows(sql`
        SELECT strategy_id AS "strategyId" FROM discovery_entries
        WHERE windows_at IS NULL OR windows_at < ${timestamp(before)}
        ORDER BY windows_at NULLS FIRST, strategy_id LIMIT ${limit}`),
      (rows) => rows.map(({ strategyId }) => strategyId)
    )
  )

  const saveWindows = Effect.fn("AnalyticsStore.saveWindows")(function* (
    at: DateTime.Utc,
    measured: ReadonlyArray<MeasuredWindows>
  ) {
    const rows = measured.map(({ strategyId, windows }) => ({
      id: strategyId,
      windows: windows === null ? null : encodeWindows(windows)
    }))
    yield* sql`
      UPDATE discovery_entries e SET windows = coalesce(m.windows, e.windows), windows_at = ${timestamp(at)}
      FROM jsonb_to_recordset(${storableJson(rows)}::jsonb) AS m (id text, windows jsonb)
      WHERE e.strategy_id = m.id`
  }, Effect.orDie)

  const finish = Effect.fn("AnalyticsStore.finish")(function* (at: DateTime.Utc) {
    yield* sql`UPDATE discovery_analytics SET measured_at = ${timestamp(at)}`
  }, Effect.orDie)

  return AnalyticsStore.of({ claim, measure, outdated, saveWindows, finish })
})

export const layer = Layer.effect(AnalyticsStore, make)

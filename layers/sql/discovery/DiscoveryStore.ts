/**
 * Discovery in PostgreSQL. `discovery_entries` holds one row for each strategy that is public and mirrorable (a trigger
 * sees to that), so a page is one index walk and a lookup by primary key for each of its rows.
 */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Decimal from "#domain/values/Decimal.ts"
import type { CuratedPosition, RankedPosition } from "#domain/discovery/DiscoveryCursor.ts"
import { type DiscoveryEntry, DiscoveryStore } from "#domain/discovery/DiscoveryStore.ts"
import type { Sort } from "#domain/discovery/Sort.ts"
import { StrategyId } from "#domain/values/Ids.ts"
import { AllocationColumn, Wad } from "#layers/sql/allocationColumns.ts"
import { WindowsColumn } from "#layers/sql/discovery/windowColumns.ts"
import { decodeRows, Timestamp } from "#layers/sql/rows.ts"

const ItemColumns = {
  strategyId: StrategyId,
  name: Schema.String,
  description: Schema.NullOr(Schema.String),
  maxApy: Schema.NullOr(Wad),
  allocation: AllocationColumn,
  createdAt: Timestamp,
  canMirror: Schema.Boolean,
  tvlUsd: Schema.NullOr(Wad),
  portfolioCount: Schema.NullOr(Schema.Int),
  windows: WindowsColumn,
  measuredAt: Schema.NullOr(Timestamp)
}
const CuratedRow = Schema.Struct({ ...ItemColumns, position: Schema.Int })
const RankedRow = Schema.Struct({ ...ItemColumns, value: Schema.NullOr(Wad) })
const SelectedRow = Schema.Struct({ strategyId: StrategyId })

const curatedRows = decodeRows(CuratedRow)
const rankedRows = decodeRows(RankedRow)
const selectedRows = decodeRows(SelectedRow)

const toEntry = (
  { measuredAt, portfolioCount, tvlUsd, windows, ...row }: typeof CuratedRow.Type | typeof RankedRow.Type,
  position: DiscoveryEntry["position"]
): DiscoveryEntry => ({
  item: {
    strategyId: row.strategyId,
    name: row.name,
    description: row.description,
    maxApy: row.maxApy,
    allocation: row.allocation,
    createdAt: row.createdAt,
    canMirror: row.canMirror,
    metrics: { tvlUsd, portfolioCount, windows }
  },
  position,
  measuredAt
})

/** The column of each sort. Its index is over exactly `rankOf` (migrations/0019). */
const columns: Readonly<Record<Sort, string>> = {
  "tvl.desc": "tvl_usd",
  "inflows7d.desc": "inflows_7d_usd",
  "users.desc": "users"
}
/** Unknown values come last in the same descending order, so that one comparison of two pairs finds the next page. */
const last = "-Infinity"
const rankOf = (column: string) => `coalesce(${column}, '${last}'::numeric)`

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const columnsOf = (position: string) =>
    sql.literal(`
    s.strategy_id AS "strategyId", s.name, s.description, s.max_apy::text AS "maxApy", v.allocation,
    s.created_at AS "createdAt", s.can_mirror AS "canMirror", e.tvl_usd AS "tvlUsd",
    e.portfolio_count AS "portfolioCount", e.windows, a.measured_at AS "measuredAt", ${position}`)
  const joins = sql.literal(`
    JOIN strategies s ON s.strategy_id = e.strategy_id
    JOIN strategy_versions v ON v.strategy_id = s.strategy_id AND v.version = s.head_version
    CROSS JOIN discovery_analytics a`)

  // In both orders the page is cut before strategies are joined to it: that costs the same at any depth.

  const curated = Effect.fn("DiscoveryStore.curated")((after: CuratedPosition | null, limit: number) => {
    const rows = curatedRows(sql`
      SELECT ${columnsOf("e.position")}
      FROM (
        SELECT c.position, d.* FROM curated_strategies c
        JOIN discovery_entries d ON d.strategy_id = c.strategy_id
        WHERE c.position > ${after?.position ?? 0}
        ORDER BY c.position LIMIT ${limit + 1}
      ) e ${joins}
      ORDER BY e.position`)
    return Effect.map(rows, (found) =>
      found.map((row) => toEntry(row, { collection: "curated", position: row.position }))
    )
  })

  const ranked = Effect.fn("DiscoveryStore.ranked")((sort: Sort, after: RankedPosition | null, limit: number) => {
    const column = columns[sort]
    const rank = sql.literal(rankOf(column))
    const value = after === null || after.value === null ? last : Decimal.format(after.value, 18)
    const next = after === null ? sql`` : sql`WHERE (${rank}, strategy_id) < (${value}::numeric, ${after.strategyId})`
    const rows = rankedRows(sql`
      SELECT ${columnsOf(`e.${column}::text AS value`)}
      FROM (
        SELECT *, ${rank} AS rank FROM discovery_entries ${next}
        ORDER BY ${rank} DESC, strategy_id DESC LIMIT ${limit + 1}
      ) e ${joins}
      ORDER BY e.rank DESC, e.strategy_id DESC`)
    return Effect.map(rows, (found) =>
      found.map((row) =>
        toEntry(row, { collection: "top_performing", sort, value: row.value, strategyId: row.strategyId })
      )
    )
  })

  const selection = Effect.map(
    selectedRows(sql`SELECT strategy_id AS "strategyId" FROM curated_strategies ORDER BY position`),
    (rows) => rows.map(({ strategyId }) => strategyId)
  ).pipe(Effect.withSpan("DiscoveryStore.selection"))

  const select = Effect.fn("DiscoveryStore.select")(
    function* (strategyIds: ReadonlyArray<StrategyId>) {
      // Of two concurrent selections the second replaces the first whole.
      yield* sql`LOCK TABLE curated_strategies IN SHARE ROW EXCLUSIVE MODE`
      const listed = yield* selectedRows(sql`
        SELECT strategy_id AS "strategyId" FROM discovery_entries WHERE strategy_id = ANY(${strategyIds}::text[])`)
      const known = new Set(listed.map(({ strategyId }) => strategyId))
      const unlisted = strategyIds.filter((strategyId) => !known.has(strategyId))
      if (unlisted.length > 0) return unlisted
      yield* sql`DELETE FROM curated_strategies`
      yield* sql`
        INSERT INTO curated_strategies (position, strategy_id)
        SELECT position, strategy_id
        FROM unnest(${strategyIds}::text[]) WITH ORDINALITY AS selected (strategy_id, position)`
      return []
    },
    sql.withTransaction,
    Effect.orDie
  )

  return DiscoveryStore.of({ curated, ranked, selection, select })
})

export const layer = Layer.effect(DiscoveryStore, make)

/** The head versions of strategies by day, from their immutable versions in PostgreSQL. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Day from "#domain/values/Day.ts"
import type { StrategyId } from "#domain/values/Ids.ts"
import { CurveStore } from "#domain/performance/CurveStore.ts"
import { AllocationColumn } from "#layers/sql/allocationColumns.ts"
import { decodeRows, timestamp } from "#layers/sql/rows.ts"

const VersionRow = Schema.Struct({ fromDay: Day.Day, allocation: AllocationColumn })
const allVersions = decodeRows(VersionRow)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const versions = Effect.fn("CurveStore.versions")((strategyId: StrategyId, from: Day.Day) =>
    allVersions(sql`
      WITH at_start AS (
        SELECT coalesce(max(version) FILTER (WHERE created_at <= ${timestamp(Day.start(from))}),
          min(version)) AS version
        FROM strategy_versions WHERE strategy_id = ${strategyId}
      ), dated AS (
        SELECT v.version, v.allocation,
          CASE WHEN v.version = at_start.version THEN ${from}::int
            ELSE ceil(extract(epoch FROM v.created_at) / 86400)::int END AS from_day
        FROM strategy_versions v, at_start
        WHERE v.strategy_id = ${strategyId} AND v.version >= at_start.version
      )
      SELECT DISTINCT ON (from_day) from_day AS "fromDay", allocation
      FROM dated ORDER BY from_day, version DESC`)
  )

  return CurveStore.of({ versions })
})

export const layer = Layer.effect(CurveStore, make)

/** Strategies and their versions in PostgreSQL. */
import { Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { PageRequest } from "#domain/Cursor.ts"
import * as Decimal from "#domain/Decimal.ts"
import { StrategyId, TenantId } from "#domain/Ids.ts"
import { Frequency } from "#domain/RebalanceSchedule.ts"
import type { Allocation, Strategy } from "#domain/strategy/Strategy.ts"
import { type NewVersion, StrategyStore } from "#domain/strategy/StrategyStore.ts"
import {
  AllocationColumn,
  encodeAllocation,
  swapPreferencesOf,
  SwapPreferencesColumns
} from "#layers/sql/allocationColumns.ts"
import { decodeFirst, decodeRows, Timestamp, timestamp } from "#layers/sql/rows.ts"

const StrategyRow = Schema.Struct({
  strategyId: StrategyId,
  tenantId: TenantId,
  name: Schema.String,
  description: Schema.NullOr(Schema.String),
  allocation: AllocationColumn,
  frequency: Frequency,
  ...SwapPreferencesColumns,
  isPublic: Schema.Boolean,
  version: Schema.Int,
  createdAt: Timestamp
})

const toStrategy = (row: typeof StrategyRow.Type): Strategy => ({
  strategyId: row.strategyId,
  tenantId: row.tenantId,
  name: row.name,
  description: row.description,
  allocation: row.allocation,
  schedule: { type: "interval", frequency: row.frequency },
  swap: swapPreferencesOf(row),
  isPublic: row.isPublic,
  version: row.version,
  createdAt: row.createdAt
})

const firstStrategy = decodeFirst(StrategyRow)
const allStrategies = decodeRows(StrategyRow)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const selectStrategies = sql.literal(`
    SELECT s.strategy_id AS "strategyId", s.tenant_id AS "tenantId", s.name, s.description, v.allocation, s.frequency,
      s.slippage_bps AS "slippageBps", s.price_impact_bps AS "priceImpactBps", s.threshold_usd AS "thresholdUsd",
      s.is_public AS "isPublic", s.head_version AS version, s.created_at AS "createdAt"
    FROM strategies s
    JOIN strategy_versions v ON v.strategy_id = s.strategy_id AND v.version = s.head_version`)

  const insertVersion = (
    strategyId: StrategyId,
    version: number,
    allocation: Allocation,
    changeLog: string | null,
    at: Date
  ) =>
    sql`
      INSERT INTO strategy_versions (strategy_id, version, allocation, change_log, created_at)
      VALUES (${strategyId}, ${version}, ${encodeAllocation(allocation)}::jsonb, ${changeLog}, ${at})`

  const insert = Effect.fn("StrategyStore.insert")(
    function* (strategy: Strategy) {
      const { slippageBps, priceImpactBps, thresholdUsd } = strategy.swap
      const createdAt = timestamp(strategy.createdAt)
      yield* sql`
      INSERT INTO strategies (strategy_id, tenant_id, name, description, frequency, slippage_bps, price_impact_bps,
        threshold_usd, is_public, head_version, created_at)
      VALUES (${strategy.strategyId}, ${strategy.tenantId}, ${strategy.name}, ${strategy.description},
        ${strategy.schedule.frequency}, ${slippageBps}, ${priceImpactBps},
        ${thresholdUsd === null ? null : Decimal.format(thresholdUsd, 18)}::numeric,
        ${strategy.isPublic}, ${strategy.version}, ${createdAt})`
      yield* insertVersion(strategy.strategyId, strategy.version, strategy.allocation, null, createdAt)
    },
    sql.withTransaction,
    Effect.orDie
  )

  const find = Effect.fn("StrategyStore.find")((strategyId: StrategyId) =>
    Effect.map(firstStrategy(sql`${selectStrategies} WHERE s.strategy_id = ${strategyId}`), Option.map(toStrategy))
  )

  const list = Effect.fn("StrategyStore.list")((tenantId: TenantId, { after, limit }: PageRequest) => {
    const conditions = [sql`s.tenant_id = ${tenantId}`]
    if (after !== null)
      conditions.push(sql`(s.created_at, s.strategy_id) < (${timestamp(after.createdAt)}, ${after.id})`)
    const rows = allStrategies(sql`
      ${selectStrategies} WHERE ${sql.and(conditions)}
      ORDER BY s.created_at DESC, s.strategy_id DESC LIMIT ${limit + 1}`)
    return Effect.map(rows, (found) => found.map(toStrategy))
  })

  const publish = Effect.fn("StrategyStore.publish")(
    function* (version: NewVersion) {
      const [head] = yield* sql<{ readonly head_version: number }>`
      UPDATE strategies SET head_version = head_version + 1
      WHERE strategy_id = ${version.strategyId} RETURNING head_version`
      if (head === undefined)
        return yield* Effect.die(
          new Error(`Strategy ${version.strategyId} does not exist: no version can be published`)
        )
      yield* insertVersion(
        version.strategyId,
        head.head_version,
        version.allocation,
        version.changeLog,
        timestamp(version.createdAt)
      )
      return head.head_version
    },
    sql.withTransaction,
    Effect.orDie
  )

  return StrategyStore.of({ insert, find, list, publish })
})

export const layer = Layer.effect(StrategyStore, make)

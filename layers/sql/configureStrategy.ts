/** What a creator configures of its strategy: cadence, preferences, fee. Each patch is one statement over its own columns. */
import { type DateTime, Effect, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { StrategyId, TenantId } from "#domain/Ids.ts"
import { type Frequency, intervalMs } from "#domain/RebalanceSchedule.ts"
import type { SwapPreferences } from "#domain/strategy/Strategy.ts"
import type { SwapFee } from "#domain/strategy/SwapFee.ts"
import { SwapPreferencesColumns } from "#layers/sql/allocationColumns.ts"
import { decodeFirst, timestamp } from "#layers/sql/rows.ts"
import { isEmpty, selectSwap, swapColumnsOf } from "#layers/sql/swapColumns.ts"

const firstSwap = decodeFirst(Schema.Struct(SwapPreferencesColumns))
const firstFee = decodeFirst(Schema.Struct({ swapBps: Schema.NullOr(Schema.Int) }))

export const makeConfigureStrategy = (sql: SqlClient.SqlClient) => {
  /** Writes the columns when there are any, and answers the selected ones of the tenant's own strategy. */
  const patch = (
    tenantId: TenantId,
    strategyId: StrategyId,
    columns: Readonly<Record<string, unknown>>,
    answer: string
  ) =>
    isEmpty(columns)
      ? sql<object>`
          SELECT ${sql.literal(answer)} FROM strategies WHERE strategy_id = ${strategyId} AND tenant_id = ${tenantId}`
      : sql<object>`
          UPDATE strategies SET ${sql.update(columns)} WHERE strategy_id = ${strategyId} AND tenant_id = ${tenantId}
          RETURNING ${sql.literal(answer)}`

  const patchSwap = Effect.fn("StrategyStore.patchSwap")(
    (tenantId: TenantId, strategyId: StrategyId, swap: Partial<SwapPreferences>) =>
      firstSwap(patch(tenantId, strategyId, swapColumnsOf(swap), selectSwap))
  )

  const patchFee = Effect.fn("StrategyStore.patchFee")((
    tenantId: TenantId,
    strategyId: StrategyId,
    { swapBps }: Partial<SwapFee>
  ) => {
    const columns = swapBps === undefined ? {} : { swap_fee_bps: swapBps }
    return firstFee(patch(tenantId, strategyId, columns, `swap_fee_bps AS "swapBps"`))
  })

  const fee = (tenantId: TenantId, strategyId: StrategyId) => patchFee(tenantId, strategyId, {})

  /**
   * The strategy's row first: a claim that read the old cadence holds it until its new due times are written, so the
   * second statement sees those (concludeDue.ts). Rows that are due already are the claims' alone and are not touched.
   */
  const setFrequency = Effect.fn("StrategyStore.setFrequency")(
    function* (tenantId: TenantId, strategyId: StrategyId, frequency: Frequency, now: DateTime.Utc) {
      const changed = yield* sql`
        UPDATE strategies SET frequency = ${frequency}
        WHERE strategy_id = ${strategyId} AND tenant_id = ${tenantId} RETURNING 1`
      if (changed.length === 0) return Option.none<Frequency>()
      const latest = new Date(now.epochMilliseconds + intervalMs[frequency])
      yield* sql`
        UPDATE schedules c SET due_at = ${latest}, updated_at = ${timestamp(now)}
        FROM portfolios p
        WHERE p.strategy_id = ${strategyId} AND p.archived_at IS NULL AND c.portfolio_id = p.portfolio_id
          AND c.status = 'active' AND c.due_at > ${latest}`
      return Option.some(frequency)
    },
    sql.withTransaction,
    Effect.orDie
  )

  return { patchSwap, fee, patchFee, setFrequency }
}

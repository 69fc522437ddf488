/**
 * What a creator configures of its strategy: cadence, preferences, fee. Each patch is one statement over its own
 * columns.
 */
import { type DateTime, Effect, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { Frequency } from "#domain/mandate/RebalanceSchedule.ts"
import type { PreferencesPatch } from "#domain/mandate/SwapPreferences.ts"
import type { SwapFee } from "#domain/mandate/SwapFee.ts"
import type { OwnStrategy } from "#domain/strategy/StrategyStore.ts"
import { swapPreferencesOf, SwapPreferencesColumns } from "#layers/sql/allocationColumns.ts"
import { PolicyColumn, policyColumnOf, policyOf, selectPolicy } from "#layers/sql/policyColumn.ts"
import { makeCadenceChanges } from "#layers/sql/strategy/cadenceChanges.ts"
import { decodeFirst } from "#layers/sql/rows.ts"
import { isEmpty, selectSwap, swapColumnsOf } from "#layers/sql/swapColumns.ts"

const firstPreferences = decodeFirst(Schema.Struct({ ...SwapPreferencesColumns, rebalancePolicy: PolicyColumn }))
const firstFee = decodeFirst(Schema.Struct({ swapBps: Schema.NullOr(Schema.Int) }))

export const makeConfigureStrategy = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const cadence = yield* makeCadenceChanges(sql)

  /** Writes the columns when there are any, and answers the selected ones of the tenant's own strategy. */
  const patch = ({ strategyId, tenantId }: OwnStrategy, columns: Readonly<Record<string, unknown>>, answer: string) =>
    isEmpty(columns)
      ? sql<object>`
          SELECT ${sql.literal(answer)} FROM strategies WHERE strategy_id = ${strategyId} AND tenant_id = ${tenantId}`
      : sql<object>`
          UPDATE strategies SET ${sql.update(columns)} WHERE strategy_id = ${strategyId} AND tenant_id = ${tenantId}
          RETURNING ${sql.literal(answer)}`

  const patchSwap = Effect.fn("StrategyStore.patchSwap")(
    (strategy: OwnStrategy, { rebalancePolicy, ...swap }: PreferencesPatch) =>
      Effect.map(
        firstPreferences(
          patch(
            strategy,
            { ...swapColumnsOf(swap), ...policyColumnOf(rebalancePolicy) },
            `${selectSwap}, ${selectPolicy}`
          )
        ),
        Option.map((row) => ({ ...swapPreferencesOf(row), ...policyOf(row) }))
      )
  )

  const patchFee = Effect.fn("StrategyStore.patchFee")((strategy: OwnStrategy, { swapBps }: Partial<SwapFee>) => {
    const columns = swapBps === undefined ? {} : { swap_fee_bps: swapBps }
    return firstFee(patch(strategy, columns, `swap_fee_bps AS "swapBps"`))
  })

  const fee = (strategy: OwnStrategy) => patchFee(strategy, {})

  /**
   * The strategy's row first: a claim that read the old cadence holds it until its new due times are written
   * (completeDue.ts). Due times follow in batches (cadenceChanges.ts).
   */
  const writeFrequency = Effect.fnUntraced(
    function* ({ strategyId, tenantId }: OwnStrategy, frequency: Frequency) {
      const changed = yield* sql<{ readonly is_other: boolean }>`
        UPDATE strategies s SET frequency = ${frequency}
        FROM (SELECT frequency FROM strategies WHERE strategy_id = ${strategyId} FOR NO KEY UPDATE) before
        WHERE s.strategy_id = ${strategyId} AND s.tenant_id = ${tenantId}
        RETURNING before.frequency <> ${frequency} AS is_other`
      if (changed.length === 0) return Option.none<Frequency>()
      if (changed[0]!.is_other) yield* cadence.request(strategyId, "")
      return Option.some(frequency)
    },
    sql.withTransaction,
    Effect.orDie
  )

  const setFrequency = Effect.fn("StrategyStore.setFrequency")(function* (
    strategy: OwnStrategy,
    frequency: Frequency,
    now: DateTime.Utc
  ) {
    const set = yield* writeFrequency(strategy, frequency)
    if (Option.isSome(set)) yield* cadence.move(now)
    return set
  })

  return { patchSwap, fee, patchFee, setFrequency }
})

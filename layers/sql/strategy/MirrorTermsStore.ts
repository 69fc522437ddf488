/** What tenants accepted of strategies that others created, in PostgreSQL. */
import { Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { StrategyId, TenantId } from "#domain/values/Ids.ts"
import { type Acceptance, MirrorTermsStore, type StoredTerms } from "#domain/strategy/MirrorTermsStore.ts"
import { Frequency } from "#domain/mandate/RebalanceSchedule.ts"
import { swapPreferencesOf, SwapPreferencesColumns } from "#layers/sql/allocationColumns.ts"
import { makeCadenceChanges } from "#layers/sql/strategy/cadenceChanges.ts"
import { decodeFirst, Timestamp, timestamp } from "#layers/sql/rows.ts"
import { swapColumnsOf } from "#layers/sql/swapColumns.ts"

const Row = Schema.Struct({
  offeredFrequency: Frequency,
  ...SwapPreferencesColumns,
  frequency: Frequency,
  acceptedSlippageBps: SwapPreferencesColumns.slippageBps,
  acceptedPriceImpactBps: SwapPreferencesColumns.priceImpactBps,
  acceptedThresholdUsd: SwapPreferencesColumns.thresholdUsd,
  acceptedAt: Timestamp
})
const firstRow = decodeFirst(Row)

const toTerms = (row: typeof Row.Type): StoredTerms => ({
  accepted: {
    frequency: row.frequency,
    swap: {
      slippageBps: row.acceptedSlippageBps,
      priceImpactBps: row.acceptedPriceImpactBps,
      thresholdUsd: row.acceptedThresholdUsd
    }
  },
  acceptedAt: row.acceptedAt,
  offered: { frequency: row.offeredFrequency, swap: swapPreferencesOf(row) }
})

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const cadence = yield* makeCadenceChanges(sql)

  const find = Effect.fn("MirrorTermsStore.find")((tenantId: TenantId, strategyId: StrategyId) =>
    Effect.map(
      firstRow(sql`
        SELECT s.frequency AS "offeredFrequency", s.slippage_bps AS "slippageBps",
          s.price_impact_bps AS "priceImpactBps", s.threshold_usd AS "thresholdUsd", m.frequency,
          m.slippage_bps AS "acceptedSlippageBps", m.price_impact_bps AS "acceptedPriceImpactBps",
          m.threshold_usd AS "acceptedThresholdUsd", m.accepted_at AS "acceptedAt"
        FROM mirror_terms m JOIN strategies s ON s.strategy_id = m.strategy_id
        WHERE m.strategy_id = ${strategyId} AND m.tenant_id = ${tenantId}`),
      Option.map(toTerms)
    )
  )

  // The strategy's row first: a claim that read the old terms holds it until its new due times are written.
  const write = Effect.fnUntraced(
    function* ({ at, strategyId, tenantId, terms }: Acceptance) {
      const { frequency, swap } = terms
      const columns = swapColumnsOf(swap)
      const offered = yield* sql`
        SELECT 1 FROM strategies WHERE strategy_id = ${strategyId} AND frequency = ${frequency}
          AND slippage_bps IS NOT DISTINCT FROM ${columns.slippage_bps}::integer
          AND price_impact_bps IS NOT DISTINCT FROM ${columns.price_impact_bps}::integer
          AND threshold_usd IS NOT DISTINCT FROM ${columns.threshold_usd}::numeric FOR NO KEY UPDATE`
      if (offered.length === 0) return false
      yield* sql`
        UPDATE mirror_terms SET ${sql.update({ frequency, ...columns, accepted_at: timestamp(at) })}
        WHERE strategy_id = ${strategyId} AND tenant_id = ${tenantId}`
      yield* cadence.request(strategyId, tenantId)
      return true
    },
    sql.withTransaction,
    Effect.orDie
  )

  const accept = Effect.fn("MirrorTermsStore.accept")(function* (acceptance: Acceptance) {
    const isAccepted = yield* write(acceptance)
    if (isAccepted) yield* cadence.move(acceptance.at)
    return isAccepted
  })

  return MirrorTermsStore.of({ find, accept })
})

export const layer = Layer.effect(MirrorTermsStore, make)

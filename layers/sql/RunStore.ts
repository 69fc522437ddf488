/** What rebalance runs read and leave behind, in PostgreSQL. */
import { Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AssetId } from "#domain/Caip.ts"
import { Grant } from "#domain/enrollment/Grant.ts"
import { OperationId, PortfolioId, TenantId } from "#domain/Ids.ts"
import { isTerminal, OperationState } from "#domain/operation/Operation.ts"
import { type RunContext, type RunEnd, RunStore } from "#domain/rebalance/RunStore.ts"
import { AllocationColumn, swapPreferencesOf, SwapPreferencesColumns } from "#layers/sql/allocationColumns.ts"
import { changeState } from "#layers/sql/operationEvents.ts"
import { decodeFirst, timestamp } from "#layers/sql/rows.ts"
import { storableJson } from "#layers/sql/storable.ts"

const ContextRow = Schema.Struct({
  operationId: OperationId,
  tenantId: TenantId,
  portfolioId: PortfolioId,
  strategyVersion: Schema.Int,
  allocation: AllocationColumn,
  ...SwapPreferencesColumns,
  grants: Schema.Array(Grant),
  reserved: Schema.Array(Schema.Struct({ assetId: AssetId, raw: Schema.BigIntFromString }))
})

const toContext = (row: typeof ContextRow.Type): RunContext => ({
  operationId: row.operationId,
  tenantId: row.tenantId,
  portfolioId: row.portfolioId,
  strategyVersion: row.strategyVersion,
  allocation: row.allocation,
  swap: swapPreferencesOf(row),
  grants: row.grants,
  reserved: row.reserved
})

const firstContext = decodeFirst(ContextRow)
const firstState = decodeFirst(Schema.Struct({ state: OperationState }))
const firstReport = decodeFirst(Schema.Struct({ report: Schema.Unknown }))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const context = Effect.fn("RunStore.context")((operationId: OperationId) =>
    Effect.map(
      firstContext(sql`
        SELECT o.operation_id AS "operationId", o.tenant_id AS "tenantId", o.portfolio_id AS "portfolioId",
          v.version AS "strategyVersion", v.allocation, s.slippage_bps AS "slippageBps",
          s.price_impact_bps AS "priceImpactBps", s.threshold_usd AS "thresholdUsd",
          (SELECT coalesce(jsonb_agg(jsonb_build_object('authorization', g.authorization_document,
            'ownerSignature', g.owner_signature) ORDER BY g.sequence), '[]'::jsonb)
            FROM grants g WHERE g.portfolio_id = p.portfolio_id) AS grants,
          (SELECT coalesce(jsonb_agg(jsonb_build_object('assetId', a ->> 'assetId', 'raw', a ->> 'amountRaw')), '[]'::jsonb)
            FROM withdrawals w
            JOIN operations x ON x.operation_id = w.operation_id AND x.finished_at IS NULL
            CROSS JOIN jsonb_array_elements(w.message -> 'assets') a
            WHERE w.portfolio_id = p.portfolio_id) AS reserved
        FROM operations o
        JOIN portfolios p ON p.portfolio_id = o.portfolio_id
        JOIN strategies s ON s.strategy_id = p.strategy_id
        JOIN strategy_versions v ON v.strategy_id = s.strategy_id AND v.version = s.head_version
        WHERE o.operation_id = ${operationId}`),
      Option.map(toContext)
    )
  )

  /** A run that is finished stays as it is; one that cannot be finished yet is a fault of the caller. */
  const requireFinished = Effect.fnUntraced(function* (operationId: OperationId, to: OperationState) {
    const found = yield* firstState(sql`SELECT state FROM operations WHERE operation_id = ${operationId}`)
    const state = Option.match(found, { onNone: () => "unknown", onSome: (row) => row.state })
    if (state === "unknown" || !isTerminal(state as OperationState)) {
      return yield* Effect.die(new Error(`Operation ${operationId} is ${state}: it cannot become ${to}`))
    }
  })

  const finish = Effect.fn("RunStore.finish")(
    function* ({ at, error, operationId, report, strategyVersion }: RunEnd) {
      const to = error === null ? "completed" : "failed"
      // The portfolio first: whoever locks both rows takes them in this order.
      yield* sql`
      SELECT 1 FROM portfolios p JOIN operations o ON o.portfolio_id = p.portfolio_id
      WHERE o.operation_id = ${operationId} FOR NO KEY UPDATE OF p`
      const [changed] = yield* changeState(sql, { operationId, to, at, error })
      if (changed === undefined) return yield* requireFinished(operationId, to)
      yield* sql`
      INSERT INTO rebalance_runs (operation_id, strategy_version, report, finished_at)
      VALUES (${operationId}, ${strategyVersion}, ${storableJson(report)}::jsonb, ${timestamp(at)})`
      yield* sql`
      UPDATE portfolios SET strategy_version = ${strategyVersion}, updated_at = ${timestamp(at)},
        last_rebalance_at = CASE WHEN ${error === null} THEN ${timestamp(at)} ELSE last_rebalance_at END
      WHERE portfolio_id = ${changed.portfolio_id}`
    },
    sql.withTransaction,
    Effect.orDie
  )

  const report = Effect.fn("RunStore.report")((operationId: OperationId) =>
    Effect.map(
      firstReport(sql`SELECT report FROM rebalance_runs WHERE operation_id = ${operationId}`),
      Option.map((row) => row.report)
    )
  )

  return RunStore.of({ context, finish, report })
})

export const layer = Layer.effect(RunStore, make)

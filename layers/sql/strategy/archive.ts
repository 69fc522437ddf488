/** Strategies that go: deleted when nothing names them, archived otherwise. Both append a tenant event. */
import { type DateTime, Effect, Option } from "effect"
import type { SqlClient } from "effect/sql"
import type { StrategyId, TenantId } from "#domain/values/Ids.ts"
import type { OwnStrategy, Removal } from "#domain/strategy/StrategyStore.ts"
import { timestamp } from "#layers/sql/rows.ts"

interface Row {
  readonly isArchived: boolean
  readonly version: number
}

export const makeArchive = (sql: SqlClient.SqlClient) => {
  /** Locks the row against new references too: an enrollment that begins now waits for what becomes of it. */
  const lock = (tenantId: TenantId, strategyId: StrategyId) =>
    Effect.map(
      sql<Row>`
        SELECT archived_at IS NOT NULL AS "isArchived", head_version AS version FROM strategies
        WHERE strategy_id = ${strategyId} AND tenant_id = ${tenantId} FOR UPDATE`,
      ([row]) => Option.fromUndefinedOr(row)
    )

  const note = (
    tenantId: TenantId,
    strategyId: StrategyId,
    event: {
      readonly type: "strategy.archived" | "strategy.restored" | "strategy.deleted"
      readonly version: number
      readonly at: DateTime.Utc
    }
  ) => sql`
    INSERT INTO tenant_events (tenant_id, at, type, strategy_id, data)
    VALUES (${tenantId}, ${timestamp(event.at)}, ${event.type}, ${strategyId},
      ${JSON.stringify({ version: event.version })}::jsonb)`

  const remove = Effect.fn("StrategyStore.remove")(
    function* ({ strategyId, tenantId }: OwnStrategy, at: DateTime.Utc) {
      const row = yield* lock(tenantId, strategyId)
      if (Option.isNone(row)) return Option.none<Removal>()
      const { isArchived, version } = row.value
      const [used] = yield* sql`
        SELECT 1 FROM portfolios WHERE strategy_id = ${strategyId}
        UNION ALL SELECT 1 FROM enrollment_flows WHERE strategy_id = ${strategyId}
        UNION ALL SELECT 1 FROM mirror_terms WHERE strategy_id = ${strategyId} LIMIT 1`
      if (used === undefined) {
        yield* sql`DELETE FROM strategies WHERE strategy_id = ${strategyId}`
        yield* note(tenantId, strategyId, { type: "strategy.deleted", version, at })
        return Option.some<Removal>("Deleted")
      }
      if (!isArchived) {
        yield* sql`UPDATE strategies SET archived_at = ${timestamp(at)} WHERE strategy_id = ${strategyId}`
        yield* note(tenantId, strategyId, { type: "strategy.archived", version, at })
      }
      return Option.some<Removal>("Archived")
    },
    sql.withTransaction,
    Effect.orDie
  )

  /** Whether it is a strategy of the tenant. */
  const unarchive = Effect.fnUntraced(
    function* ({ strategyId, tenantId }: OwnStrategy, at: DateTime.Utc) {
      const row = yield* lock(tenantId, strategyId)
      if (Option.isNone(row)) return false
      if (row.value.isArchived) {
        yield* sql`UPDATE strategies SET archived_at = NULL WHERE strategy_id = ${strategyId}`
        yield* note(tenantId, strategyId, { type: "strategy.restored", version: row.value.version, at })
      }
      return true
    },
    sql.withTransaction,
    Effect.orDie
  )

  return { remove, unarchive }
}

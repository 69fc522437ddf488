/** The peer's read of a portfolio: its view of the service's own statement. */
import type { Pool } from "pg"
import { DateTime } from "effect"
import { attentionOf } from "#domain/portfolio/Attention.ts"
import { type DetailRow, selectDetail, toDetail } from "#layers/sql/portfolio/portfolioRows.ts"

const findPortfolio = `${selectDetail} WHERE p.portfolio_id = $1 AND p.tenant_id = $2`

const hour = 3_600_000
const intervals: Readonly<Record<string, number>> = {
  hourly: hour,
  daily: 24 * hour,
  weekly: 168 * hour,
  monthly: 720 * hour
}

const view = (row: DetailRow) => ({
  portfolioId: row.portfolio_id,
  portfolioName: row.name,
  ownerAccountId: row.owner_account_id,
  strategyId: row.strategy_id,
  strategyName: row.strategy_name,
  strategyDescription: row.strategy_description,
  smartAccounts: row.account_ids.map((accountId) => ({
    accountId,
    permission: row.guarded_account_ids.includes(accountId) ? "guard" : "call_policy"
  })),
  schedule:
    row.status === null || row.due_at === null
      ? null
      : {
          status: row.status,
          pauseReason: row.status === "active" ? null : row.is_revoked ? "revoked" : "stopped",
          frequency: row.frequency,
          intervalMs: intervals[row.frequency],
          nextDueAt: row.due_at.toISOString(),
          lastRebalanceAt: row.last_rebalance_at === null ? null : row.last_rebalance_at.toISOString(),
          lastCheckedAt: row.checked_at === null ? null : row.checked_at.toISOString()
        },
  createdAt: row.created_at.toISOString(),
  strategyVersion: row.strategy_version,
  updatedAt: row.updated_at.toISOString(),
  activeOperationId: row.active_operation_id,
  lastOperation:
    row.last_operation_id === null
      ? null
      : {
          operationId: row.last_operation_id,
          kind: row.last_kind,
          state: row.last_state,
          outcome: row.last_outcome,
          reason: row.last_reason ?? row.last_error,
          finishedAt: row.last_finished_at.toISOString()
        },
  // The rule is the service's own: a second one in other words would measure nothing.
  attention: attentionOf(toDetail(row).facts, DateTime.nowUnsafe()).map(({ since, ...attention }) => ({
    ...attention,
    since: DateTime.formatIso(since)
  }))
})

/** The tenant's portfolio; undefined when it has none of that id. */
export const readPortfolio = async (pool: Pool, tenantId: string, portfolioId: string) => {
  const values = [portfolioId, tenantId]
  const { rows } = await pool.query<DetailRow>({ name: "find-portfolio", text: findPortfolio, values })
  return rows[0] === undefined ? undefined : view(rows[0])
}

/** The peer's read of a portfolio: its statement and its view. */
import type { Pool } from "pg"

const findPortfolio = `
  SELECT p.portfolio_id, p.name, p.owner_account_id, p.strategy_id, s.name AS strategy_name,
    s.description AS strategy_description, s.frequency, p.strategy_version, p.account_ids, p.guarded_account_ids,
    p.last_rebalance_at, p.created_at, p.updated_at, p.revoked_at IS NOT NULL AS is_revoked, c.status, c.due_at
  FROM portfolios p
  JOIN strategies s ON s.strategy_id = p.strategy_id
  LEFT JOIN schedules c ON c.portfolio_id = p.portfolio_id
  WHERE p.portfolio_id = $1 AND p.tenant_id = $2`

interface Row {
  readonly portfolio_id: string
  readonly name: string | null
  readonly owner_account_id: string
  readonly strategy_id: string
  readonly strategy_name: string
  readonly strategy_description: string | null
  readonly frequency: string
  readonly strategy_version: number
  readonly account_ids: ReadonlyArray<string>
  readonly guarded_account_ids: ReadonlyArray<string>
  readonly last_rebalance_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly is_revoked: boolean
  readonly status: string | null
  readonly due_at: Date | null
}

const hour = 3_600_000
const intervals: Readonly<Record<string, number>> = {
  hourly: hour,
  daily: 24 * hour,
  weekly: 168 * hour,
  monthly: 720 * hour
}

const view = (row: Row) => ({
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
          lastRebalanceAt: row.last_rebalance_at === null ? null : row.last_rebalance_at.toISOString()
        },
  createdAt: row.created_at.toISOString(),
  strategyVersion: row.strategy_version,
  updatedAt: row.updated_at.toISOString()
})

/** The tenant's portfolio; undefined when it has none of that id. */
export const readPortfolio = async (pool: Pool, tenantId: string, portfolioId: string) => {
  const values = [portfolioId, tenantId]
  const { rows } = await pool.query<Row>({ name: "find-portfolio", text: findPortfolio, values })
  return rows[0] === undefined ? undefined : view(rows[0])
}

/** The one query shape that reads portfolios, and the domain value of its rows. */
import { DateTime } from "effect"
import type { EvmAccountId, EvmWalletId } from "#domain/Caip.ts"
import type { PortfolioId, StrategyId, TenantId } from "#domain/Ids.ts"
import type { Portfolio, ScheduleStatus } from "#domain/portfolio/Portfolio.ts"
import type { Frequency } from "#domain/RebalanceSchedule.ts"

/** A portfolio with its strategy and schedule: four look-ups by primary key. `c` is the schedule. */
export const selectPortfolios = `
  SELECT p.portfolio_id, p.tenant_id, p.name, p.owner_account_id, p.strategy_id, s.name AS strategy_name,
    s.description AS strategy_description, slower_frequency(s.frequency, m.frequency) AS frequency, p.strategy_version, p.account_ids, p.guarded_account_ids, p.last_rebalance_at,
    p.created_at, p.updated_at, p.revoked_at IS NOT NULL AS is_revoked, c.status, c.due_at
  FROM portfolios p
  JOIN strategies s ON s.strategy_id = p.strategy_id
  LEFT JOIN mirror_terms m ON m.strategy_id = p.strategy_id AND m.tenant_id = p.tenant_id
  LEFT JOIN schedules c ON c.portfolio_id = p.portfolio_id`

export interface PortfolioRow {
  readonly portfolio_id: string
  readonly tenant_id: string
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

/**
 * The busiest read of the service, so the columns are taken as they are: every one is typed and constrained by the
 * database and written only by stores.
 */
export const toPortfolio = (row: PortfolioRow): Portfolio => ({
  portfolioId: row.portfolio_id as PortfolioId,
  tenantId: row.tenant_id as TenantId,
  name: row.name,
  ownerAccountId: row.owner_account_id as EvmWalletId,
  strategyId: row.strategy_id as StrategyId,
  strategyName: row.strategy_name,
  strategyDescription: row.strategy_description,
  strategyVersion: row.strategy_version,
  smartAccounts: row.account_ids as ReadonlyArray<EvmAccountId>,
  guardedAccounts: row.guarded_account_ids as ReadonlyArray<EvmAccountId>,
  schedule:
    row.status === null || row.due_at === null
      ? null
      : {
          status: row.status as ScheduleStatus,
          pauseReason: row.status === "active" ? null : row.is_revoked ? "revoked" : "stopped",
          frequency: row.frequency as Frequency,
          nextDueAt: DateTime.makeUnsafe(row.due_at),
          lastRebalanceAt: row.last_rebalance_at === null ? null : DateTime.makeUnsafe(row.last_rebalance_at)
        },
  createdAt: DateTime.makeUnsafe(row.created_at),
  updatedAt: DateTime.makeUnsafe(row.updated_at)
})

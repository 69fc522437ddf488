/** One user in one strategy, with one smart account a chain. Source: interface "Portfolio", shapes 2.17. */
import type { DateTime } from "effect"
import type { AccountId, WalletId } from "#domain/Caip.ts"
import type { PortfolioId, StrategyId, TenantId } from "#domain/Ids.ts"
import type { Labels } from "#domain/Labels.ts"
import type { Frequency } from "#domain/RebalanceSchedule.ts"

/** `active`: the scheduler ticks; `paused`: the integrator stopped automation. */
export type ScheduleStatus = "active" | "paused"

/**
 * What the agent of an account is bound by: `guard`, or `call_policy`, the permission of before the guard, or
 * `wallet_role`, on Solana, the role in the owner's wallet.
 */
export type Permission = "guard" | "call_policy" | "wallet_role"

/** Why a schedule is paused. `stopped`: by the integrator; `revoked`: the owner ended the agent's permission. */
export type PauseReason = "stopped" | "revoked"

/** The runtime state of a portfolio's schedule. */
export interface PortfolioSchedule {
  readonly status: ScheduleStatus
  /** Null while it is active. */
  readonly pauseReason: PauseReason | null
  readonly frequency: Frequency
  readonly nextDueAt: DateTime.Utc
  /** When the latest completed run, manual or scheduled, finished. */
  readonly lastRebalanceAt: DateTime.Utc | null
}

export interface Portfolio extends Labels {
  readonly portfolioId: PortfolioId
  readonly tenantId: TenantId
  readonly name: string | null
  readonly ownerAccountId: WalletId
  readonly strategyId: StrategyId
  readonly strategyName: string
  readonly strategyDescription: string | null
  /** The version that the latest run used as its target; at enrollment the head version of that moment. */
  readonly strategyVersion: number
  readonly smartAccounts: ReadonlyArray<AccountId>
  /**
   * Those of them whose owner's latest signature puts the agent under the trade guard; the others are under the
   * permission of before.
   */
  readonly guardedAccounts: ReadonlyArray<AccountId>
  /** The agent's role in the owner's wallet, of a portfolio on Solana. */
  readonly walletRoleId?: number
  /** Null when the portfolio is not rebalanced automatically. */
  readonly schedule: PortfolioSchedule | null
  readonly createdAt: DateTime.Utc
  readonly updatedAt: DateTime.Utc
}

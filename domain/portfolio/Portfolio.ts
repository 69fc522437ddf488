/**
 * One user in one strategy, with one smart account a chain. Records of it are stored and read back unchanged, as what a
 * replay answers. Source: interface "Portfolio", shapes 2.17.
 */
import { Schema } from "effect"
import { AccountId, WalletId } from "#domain/values/Caip.ts"
import { PortfolioId, StrategyId, TenantId } from "#domain/values/Ids.ts"
import { Frequency } from "#domain/mandate/RebalanceSchedule.ts"

/** `active`: the scheduler ticks; `paused`: automation was stopped. */
export const ScheduleStatus = Schema.Literals(["active", "paused"])
export type ScheduleStatus = typeof ScheduleStatus.Type

/**
 * Bounds of the agent of an account: `guard`; or `call_policy`, a permission without a guard; or `wallet_role`, on
 * Solana, the role in the owner's wallet.
 */
export const Permission = Schema.Literals(["guard", "call_policy", "wallet_role"])
export type Permission = typeof Permission.Type

/**
 * Why a schedule is paused. `stopped`: by the integrator, or by the owner where it lets them; `revoked`: the owner
 * ended the agent's permission.
 */
export const PauseReason = Schema.Literals(["stopped", "revoked"])

const PortfolioSchedule = Schema.Struct({
  status: ScheduleStatus,
  /** Null while it is active. */
  pauseReason: Schema.NullOr(PauseReason),
  /** What whoever stopped it said of why, for people; null where nothing was said, and while it is active. */
  pauseNote: Schema.NullOr(Schema.String),
  frequency: Frequency,
  nextDueAt: Schema.DateTimeUtcFromString,
  /** End of the latest completed run, manual or scheduled. */
  lastRebalanceAt: Schema.NullOr(Schema.DateTimeUtcFromString),
  /** End of the schedule's latest drift check, whether it began a run or found the portfolio on target. */
  lastCheckedAt: Schema.NullOr(Schema.DateTimeUtcFromString)
})
/** The runtime state of a portfolio's schedule. */
export type PortfolioSchedule = typeof PortfolioSchedule.Type

export const Portfolio = Schema.Struct({
  portfolioId: PortfolioId,
  tenantId: TenantId,
  name: Schema.NullOr(Schema.String),
  ownerAccountId: WalletId,
  strategyId: StrategyId,
  strategyName: Schema.String,
  strategyDescription: Schema.NullOr(Schema.String),
  /** The version that the latest run used as its target; at enrollment the head version of that moment. */
  strategyVersion: Schema.Int,
  smartAccounts: Schema.Array(AccountId),
  /**
   * Accounts whose owner's latest signature puts the agent under the trade guard; the others are under a permission
   * without one.
   */
  guardedAccounts: Schema.Array(AccountId),
  /** The agent's role in the owner's wallet, of a portfolio on Solana. */
  walletRoleId: Schema.optionalKey(Schema.Int),
  /** Null when the portfolio is not rebalanced automatically. */
  schedule: Schema.NullOr(PortfolioSchedule),
  externalId: Schema.optionalKey(Schema.String),
  metadata: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  createdAt: Schema.DateTimeUtcFromString,
  updatedAt: Schema.DateTimeUtcFromString
})
export type Portfolio = typeof Portfolio.Type

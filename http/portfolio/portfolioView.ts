/** A portfolio as v2 shows it. Source: shapes 2.17. */
import { DateTime } from "effect"
import { type AccountId, namespaceOf } from "#domain/values/Caip.ts"
import type { Permission, Portfolio, PortfolioSchedule } from "#domain/portfolio/Portfolio.ts"
import type { LastOperation, PortfolioDetail } from "#domain/portfolio/PortfolioDetail.ts"
import { labelsView } from "#http/values/labels.ts"
import { intervalMs } from "#domain/mandate/RebalanceSchedule.ts"

const scheduleView = (schedule: PortfolioSchedule) => ({
  status: schedule.status,
  pauseReason: schedule.pauseReason,
  frequency: schedule.frequency,
  intervalMs: intervalMs[schedule.frequency],
  nextDueAt: DateTime.formatIso(schedule.nextDueAt),
  lastRebalanceAt: schedule.lastRebalanceAt === null ? null : DateTime.formatIso(schedule.lastRebalanceAt),
  lastCheckedAt: schedule.lastCheckedAt === null ? null : DateTime.formatIso(schedule.lastCheckedAt)
})

export const smartAccountView = (accountId: AccountId, walletRoleId?: number) => ({
  accountId,
  ...(namespaceOf(accountId) === "solana" ? { depositAccountId: accountId } : {}),
  ...(walletRoleId === undefined ? {} : { walletRoleId })
})

const permissionOf = (accountId: AccountId, { guardedAccounts }: Portfolio): Permission => {
  if (namespaceOf(accountId) === "solana") return "wallet_role"
  return guardedAccounts.includes(accountId) ? "guard" : "call_policy"
}

/** The item of a list. */
export const portfolioItemView = (portfolio: Portfolio) => ({
  portfolioId: portfolio.portfolioId,
  portfolioName: portfolio.name,
  ownerAccountId: portfolio.ownerAccountId,
  strategyId: portfolio.strategyId,
  strategyName: portfolio.strategyName,
  strategyDescription: portfolio.strategyDescription,
  smartAccounts: portfolio.smartAccounts.map((accountId) => ({
    ...smartAccountView(accountId, portfolio.walletRoleId),
    permission: permissionOf(accountId, portfolio)
  })),
  schedule: portfolio.schedule === null ? null : scheduleView(portfolio.schedule),
  createdAt: DateTime.formatIso(portfolio.createdAt),
  ...labelsView(portfolio)
})

/** Writes a portfolio as enrollment answers it. */
export const portfolioView = (portfolio: Portfolio) => ({
  ...portfolioItemView(portfolio),
  strategyVersion: portfolio.strategyVersion,
  updatedAt: DateTime.formatIso(portfolio.updatedAt)
})

const lastView = ({ finishedAt, ...last }: LastOperation) => ({ ...last, finishedAt: DateTime.formatIso(finishedAt) })

/** The detail. */
export const portfolioDetailView = (portfolio: PortfolioDetail) => ({
  ...portfolioView(portfolio),
  activeOperationId: portfolio.activeOperationId,
  lastOperation: portfolio.lastOperation === null ? null : lastView(portfolio.lastOperation),
  attention: portfolio.attention.map(({ since, ...attention }) => ({ ...attention, since: DateTime.formatIso(since) }))
})

/** The automation of a portfolio as v1 sends it. */
import { DateTime } from "effect"
import type { PortfolioId } from "#domain/values/Ids.ts"
import { type AutomationStatus, automationStateOf } from "#domain/rebalance/Automation.ts"

const isoOrNull = (at: DateTime.Utc | null | undefined) =>
  at === null || at === undefined ? null : DateTime.formatIso(at)

/** A portfolio has one schedule, so it is named after the portfolio. */
export const scheduleIdOf = (portfolioId: PortfolioId): string => `sched_${portfolioId.slice("pf_".length)}`

const messages = {
  active: "Automation is active",
  paused: "Automation is paused",
  inactive: "The portfolio has no schedule"
} as const

export const statusView = ({ portfolio, record }: AutomationStatus) => {
  const { portfolioId, schedule } = portfolio
  const status = automationStateOf(portfolio)
  return {
    portfolioId,
    status,
    hasAutomation: schedule !== null,
    message: messages[status],
    rebalanceScheduleId: schedule === null ? null : scheduleIdOf(portfolioId),
    details: {
      totalExecutions: record.completed,
      paused: status === "paused",
      pauseReason: schedule?.pauseNote ?? schedule?.pauseReason ?? null,
      recentActions: record.runs.map(({ operationId, startedAt, submittedAt }) => ({
        workflowId: operationId,
        takenAt: isoOrNull(startedAt),
        scheduledAt: DateTime.formatIso(submittedAt)
      })),
      nextScheduledExecution: status === "active" ? isoOrNull(schedule?.nextDueAt) : null
    }
  }
}

export const workflowsView = ({ portfolio, record }: AutomationStatus) => ({
  portfolioId: portfolio.portfolioId,
  status: automationStateOf(portfolio),
  recentWorkflows: record.runs.map(({ operationId, startedAt, state, submittedAt }) => ({
    workflowId: operationId,
    runId: operationId,
    scheduledAt: DateTime.formatIso(submittedAt),
    startedAt: isoOrNull(startedAt),
    status: state
  }))
})

import { DateTime, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Portfolios } from "#domain/portfolio/Portfolios.ts"
import { Automation } from "#domain/rebalance/Automation.ts"
import { intervalMs } from "#domain/mandate/RebalanceSchedule.ts"
import { successV1 } from "#http/v1/envelopeV1.ts"
import { V1 } from "#http/v1/Api.ts"
import { scheduleIdOf, statusView, workflowsView } from "#http/v1/automation/automationView.ts"

/** Rebalances that are shown by default. */
const shown = 5

export const AutomationLive = HttpApiBuilder.group(
  V1,
  "automation",
  Effect.fnUntraced(function* (handlers) {
    const automation = yield* Automation
    const portfolios = yield* Portfolios

    return handlers.handleAll({
      automationStatus: ({ params }) =>
        Effect.flatMap(automation.status(params.portfolioId, shown), (status) => successV1(statusView(status))),
      rebalanceStatus: ({ params, query }) =>
        Effect.flatMap(automation.status(params.portfolioId, query.limit ?? shown), (status) =>
          successV1(workflowsView(status))
        ),
      startAutomation: Effect.fnUntraced(function* ({ params, payload }) {
        const { interval, runRebalanceImmediately: runImmediately = false } = payload
        const { portfolio, run } = yield* automation.start(params.portfolioId, { interval, runImmediately })
        const waits = runImmediately && run === null
        return yield* successV1({
          portfolioId: portfolio.portfolioId,
          rebalanceScheduleId: scheduleIdOf(portfolio.portfolioId),
          status: "started" as const,
          message: waits
            ? "Automation is active; the next rebalance starts after the cooldown"
            : "Automation is active",
          runRebalanceImmediately: run !== null,
          isAutomated: true,
          intervalMs: intervalMs[portfolio.schedule!.frequency]
        })
      }),
      pauseAutomation: Effect.fnUntraced(function* ({ params, payload }) {
        const { portfolioId } = yield* portfolios.stop(params.portfolioId, payload.reason ?? null)
        const { record } = yield* Effect.orDie(automation.status(portfolioId, 1))
        return yield* successV1({
          portfolioId,
          scheduleId: scheduleIdOf(portfolioId),
          status: "paused" as const,
          message: "Automation is paused",
          paused: true,
          pausedAt: DateTime.formatIso(record.scheduleChangedAt!),
          reason: payload.reason ?? null
        })
      }),
      resumeAutomation: Effect.fnUntraced(function* ({ params, payload }) {
        const { portfolioId } = yield* portfolios.start(params.portfolioId)
        return yield* successV1({
          portfolioId,
          scheduleId: scheduleIdOf(portfolioId),
          status: "resumed" as const,
          message: "Automation is active",
          paused: false,
          resumedAt: DateTime.formatIso(yield* DateTime.now),
          reason: payload.reason ?? null
        })
      }),
      triggerAutomation: ({ params, payload }) =>
        Effect.flatMap(
          automation.trigger(params.portfolioId, payload.skipScheduleValidation ?? false),
          ({ operationId, portfolioId }) =>
            successV1({
              portfolioId,
              workflowId: operationId,
              runId: operationId,
              status: "triggered" as const,
              message: "The rebalance has begun; its events are at /v1/executions/{operationId}/stream"
            })
        )
    })
  })
)

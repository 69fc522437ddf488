/** The automation of a portfolio on the legacy wire. Source: interface "Legacy automation status (v1)", shapes 2.30. */
import { Schema } from "effect"
import { OperationState } from "#domain/operation/Operation.ts"
import { OperationIdText, PortfolioIdText, prose, timestamp, written } from "#http/values/values.ts"

const flag = (description: string, example: boolean) => Schema.Boolean.annotate({ description, examples: [example] })
const count = (description: string, example: number) => Schema.Int.annotate({ description, examples: [example] })
const message = prose("Sentence for people.", 300, "Automation is active")

const ScheduleIdText = written(
  "Names the portfolio's one schedule.",
  /^sched_[0-9A-Z]{26}$/u,
  "sched_01JQ8ZM0R2W4Y6A8C0E2G4J6K8"
)

const statusText = Schema.Literals(["active", "paused", "inactive", "archived", "error"]).annotate({
  description: "`inactive`: the portfolio has no schedule.",
  examples: ["active"]
})

const pauseReason = Schema.NullOr(prose("Why, for people.", 200, "Maintenance of the treasury")).annotate({
  description:
    "The reason that was sent when it was paused. Where none was: `stopped`, by the integrator, or by the owner where it lets them; `revoked`, when the owner ended the agent's permission. Null while active.",
  examples: [null]
})

const nullableTime = (description: string) =>
  Schema.NullOr(timestamp(description)).annotate({ description, examples: ["2026-03-02T09:30:00.000Z"] })

export const AutomationStatus = Schema.Struct({
  portfolioId: PortfolioIdText,
  status: statusText,
  hasAutomation: flag("The portfolio has a schedule.", true),
  message,
  rebalanceScheduleId: Schema.NullOr(ScheduleIdText).annotate({
    description: "Null without a schedule.",
    examples: ["sched_01JQ8ZM0R2W4Y6A8C0E2G4J6K8"]
  }),
  details: Schema.Struct({
    totalExecutions: count("Rebalances that completed.", 12),
    paused: flag("The schedule is paused.", false),
    pauseReason,
    recentActions: Schema.Array(
      Schema.Struct({
        workflowId: OperationIdText,
        takenAt: nullableTime("Begin; null while it has not"),
        scheduledAt: timestamp("Time at which it was accepted")
      })
    ).annotate({ description: "The latest rebalances, newest first." }),
    nextScheduledExecution: nullableTime("Due time of the next one; null while paused and without a schedule")
  }).annotate({ description: "What the automation did and does next." })
}).annotate({ identifier: "AutomationStatus", description: "The automation of a portfolio." })

export const RebalanceStatus = Schema.Struct({
  portfolioId: PortfolioIdText,
  status: statusText,
  recentWorkflows: Schema.Array(
    Schema.Struct({
      workflowId: OperationIdText,
      runId: OperationIdText,
      scheduledAt: timestamp("Time at which it was accepted"),
      startedAt: nullableTime("Begin; null while it has not"),
      status: OperationState.annotate({ description: "State as v2 has it.", examples: ["completed"] })
    })
  ).annotate({ description: "The latest rebalances, newest first." })
}).annotate({ identifier: "RebalanceStatus", description: "The latest rebalances of a portfolio." })

const maxMs = 365 * 24 * 3_600_000

export const StartBody = Schema.Struct({
  runRebalanceImmediately: Schema.optionalKey(flag("Start a rebalance at once as well; false when left out.", false)),
  initializeScheduleAutomatically: Schema.optionalKey(
    flag("Accepted; a portfolio gets its schedule when it is enrolled.", true)
  ),
  interval: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 3_600_000, maximum: maxMs })).annotate({
      description:
        "Milliseconds, 1 hour to 1 year: the strategy's own interval, the legacy default of 21600000, or left out. The schedule stays the strategy's; `intervalMs` answers it.",
      examples: [86_400_000]
    })
  )
}).annotate({ identifier: "AutomationStart", description: "How automation is started." })

export const AutomationStarted = Schema.Struct({
  portfolioId: PortfolioIdText,
  rebalanceScheduleId: ScheduleIdText,
  status: Schema.Literal("started").annotate({ description: "The schedule is active." }),
  message,
  runRebalanceImmediately: flag("A rebalance was started, or one was running.", false),
  isAutomated: flag("The schedule is active.", true),
  intervalMs: count("Milliseconds between two rebalances.", 86_400_000)
}).annotate({ identifier: "AutomationStarted", description: "Automation that was started." })

const reason = prose("Why, for people.", 200, "Maintenance of the treasury")

export const SwitchBody = Schema.Struct({
  reason: Schema.optionalKey(
    reason.annotate({ description: "Why, for people; that of a pause is the `pauseReason` until it ends." })
  )
}).annotate({ identifier: "AutomationSwitch", description: "Why automation is switched." })

const switched = {
  portfolioId: PortfolioIdText,
  scheduleId: ScheduleIdText,
  message,
  reason: Schema.NullOr(reason).annotate({
    description: "Text as it was sent.",
    examples: ["Maintenance of the treasury"]
  })
}

export const AutomationPaused = Schema.Struct({
  ...switched,
  status: Schema.Literal("paused").annotate({ description: "The schedule is paused." }),
  paused: flag("The schedule is paused.", true),
  pausedAt: timestamp("Time at which it was paused")
}).annotate({ identifier: "AutomationPaused", description: "Automation that was paused." })

export const AutomationResumed = Schema.Struct({
  ...switched,
  status: Schema.Literal("resumed").annotate({ description: "The schedule is active." }),
  paused: flag("The schedule is paused.", false),
  resumedAt: timestamp("Time at which it was resumed")
}).annotate({ identifier: "AutomationResumed", description: "Automation that was resumed." })

export const TriggerBody = Schema.Struct({
  skipScheduleValidation: Schema.optionalKey(
    flag("True rebalances where the schedule is paused too; false when left out.", false)
  )
}).annotate({ identifier: "AutomationTrigger", description: "How a rebalance is started." })

export const AutomationTriggered = Schema.Struct({
  portfolioId: PortfolioIdText,
  workflowId: OperationIdText,
  runId: OperationIdText,
  status: Schema.Literal("triggered").annotate({ description: "A rebalance was started, or one was running." }),
  message
}).annotate({ identifier: "AutomationTriggered", description: "The rebalance that was started." })

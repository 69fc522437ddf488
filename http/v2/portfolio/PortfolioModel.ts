/** A portfolio on the wire: the list's item, and the detail with two fields more. Source: interface "Portfolio", shapes 2.17. */
import { Schema } from "effect"
import { Frequency } from "#domain/RebalanceSchedule.ts"
import {
  PortfolioIdText,
  prose,
  SmartAccountIdText,
  StrategyIdText,
  timestamp,
  WalletIdText
} from "#http/v2/values/values.ts"

export const SmartAccount = Schema.Struct({ accountId: SmartAccountIdText }).annotate({
  identifier: "SmartAccount",
  description: "The portfolio's account on one chain; the address is the same on every EVM chain."
})

export const Permission = Schema.Literals(["guard", "call_policy"]).annotate({
  title: "Permission",
  description:
    "`guard`: every trade of the agent is held against reference prices and a loss budget on the chain; `call_policy`: the permission of before, which the owner replaces by signing anew.",
  examples: ["guard"]
})

const PortfolioAccount = Schema.Struct({
  accountId: SmartAccountIdText,
  permission: Permission
}).annotate({
  identifier: "PortfolioAccount",
  description: "The portfolio's account on one chain, and what the owner's latest signature bound the agent by there."
})

export const ScheduleStatus = Schema.Literals(["active", "paused"]).annotate({
  description: "`active`: automation runs; `paused`: the integrator stopped it, or the owner revoked its permission.",
  examples: ["active"]
})

const PortfolioSchedule = Schema.Struct({
  status: ScheduleStatus,
  pauseReason: Schema.NullOr(Schema.Literals(["stopped", "revoked"])).annotate({
    description:
      "Null while active. `stopped`: by the integrator, who may start it again; `revoked`: the owner ended the agent's permission, and must sign anew first.",
    examples: [null]
  }),
  frequency: Frequency.annotate({ description: "The strategy's frequency.", examples: ["daily"] }),
  intervalMs: Schema.Int.annotate({
    description: "Milliseconds between two automated rebalances.",
    examples: [86_400_000]
  }),
  nextDueAt: timestamp(
    "When the next automated rebalance is due; kept as it was while paused",
    "2026-03-03T09:30:00.000Z"
  ),
  lastRebalanceAt: Schema.NullOr(timestamp("When it finished")).annotate({
    description: "When the latest completed run, manual or scheduled, finished; null before the first.",
    examples: ["2026-03-02T09:30:00.000Z"]
  })
}).annotate({ identifier: "PortfolioSchedule", description: "The runtime state of the portfolio's schedule." })

const item = {
  portfolioId: PortfolioIdText,
  portfolioName: Schema.NullOr(prose("The portfolio's name.", 128, "Savings")).annotate({
    description: "Null when no name was given.",
    examples: ["Savings"]
  }),
  ownerAccountId: WalletIdText,
  strategyId: StrategyIdText,
  strategyName: prose("Name of the strategy.", 512, "Blue chips"),
  strategyDescription: Schema.NullOr(prose("What the strategy is for.", 4_000, "Half ether, half dollars.")).annotate({
    description: "Description of the strategy.",
    examples: ["Half ether, half dollars."]
  }),
  smartAccounts: Schema.Array(PortfolioAccount).annotate({ description: "One account a chain." }),
  schedule: Schema.NullOr(PortfolioSchedule).annotate({
    description: "Null when the portfolio is not rebalanced automatically."
  }),
  createdAt: timestamp("When the user was enrolled", "2026-03-01T09:30:00.000Z")
}

export const PortfolioItem = Schema.Struct(item).annotate({
  identifier: "PortfolioItem",
  description: "A portfolio in a list."
})

export const Portfolio = Schema.Struct({
  ...item,
  strategyVersion: Schema.Int.annotate({
    description:
      "The strategy version that the latest run aimed at; before the first run the head version at enrollment.",
    examples: [1]
  }),
  updatedAt: timestamp("When anything about the portfolio last changed")
}).annotate({ identifier: "Portfolio", description: "One user in one strategy, with one smart account a chain." })

/**
 * A portfolio on the wire: the list's item, and the detail with two fields more. Source: interface "Portfolio", shapes
 * 2.17.
 */
import { Schema } from "effect"
import { patterns, solanaReference } from "#domain/values/Caip.ts"
import { Frequency } from "#domain/mandate/RebalanceSchedule.ts"
import { OperationKind, OperationState } from "#domain/operation/Operation.ts"
import { Actor, AttentionCode } from "#domain/portfolio/Attention.ts"
import * as Portfolios from "#domain/portfolio/Portfolio.ts"
import { Outcome } from "#http/operation/OperationResultModel.ts"
import { labels } from "#http/values/labels.ts"
import {
  OperationIdText,
  PortfolioIdText,
  prose,
  SmartAccountIdText,
  StrategyIdText,
  timestamp,
  WalletIdText,
  written
} from "#http/values/values.ts"
import { solanaField } from "#http/values/solanaField.ts"

/** Only of accounts on Solana. */
const solanaFields = {
  depositAccountId: solanaField(
    written(
      "Address on Solana where the owner deposits: the account itself.",
      patterns.solanaAccount,
      `solana:${solanaReference}:9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin`
    )
  ),
  walletRoleId: solanaField(
    Schema.Int.annotate({ description: "Role of the agent in the owner's wallet on Solana.", examples: [1] })
  )
}

export const SmartAccount = Schema.Struct({ accountId: SmartAccountIdText, ...solanaFields }).annotate({
  identifier: "SmartAccount",
  description: "The portfolio's account on one chain; the address is the same on every EVM chain."
})

export const Permission = Portfolios.Permission.annotate({
  title: "Permission",
  description:
    "`guard`: every trade of the agent is held against reference prices and a loss budget on the chain; `call_policy`: a permission from before the trade guard, which the owner replaces by signing anew; `wallet_role`, on Solana: the agent's role in the owner's wallet, which the chain limits to the account.",
  examples: ["guard"]
})

const PortfolioAccount = Schema.Struct({
  accountId: SmartAccountIdText,
  ...solanaFields,
  permission: Permission
}).annotate({
  identifier: "PortfolioAccount",
  description: "The portfolio's account on one chain, and what the owner's latest signature bound the agent by there."
})

export const ScheduleStatus = Portfolios.ScheduleStatus.annotate({
  description: "`active`: automation runs; `paused`: it was stopped, or the owner revoked its permission.",
  examples: ["active"]
})

const PortfolioSchedule = Schema.Struct({
  status: ScheduleStatus,
  pauseReason: Schema.NullOr(Portfolios.PauseReason).annotate({
    description:
      "Null while active. `stopped`: by the integrator, or by the owner where `ownerActions` of the tenant lets them; it may be started again; `revoked`: the owner ended the agent's permission, and must sign anew first.",
    examples: [null]
  }),
  frequency: Frequency.annotate({ description: "The strategy's frequency.", examples: ["daily"] }),
  intervalMs: Schema.Int.annotate({
    description: "Milliseconds between two automated rebalances.",
    examples: [86_400_000]
  }),
  nextDueAt: timestamp(
    "Due time of the next automated rebalance; kept as it was while paused",
    "2026-03-03T09:30:00.000Z"
  ),
  lastRebalanceAt: Schema.NullOr(timestamp("Time at which it finished")).annotate({
    description: "End of the latest completed run, manual or scheduled; null before the first.",
    examples: ["2026-03-02T09:30:00.000Z"]
  }),
  lastCheckedAt: Schema.NullOr(timestamp("Time at which it ended")).annotate({
    description:
      "End of the schedule's latest check: it began a run, or found the portfolio on target, where `lastRebalanceAt` stays as it was. Null before the first since automation was started or stopped.",
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
  createdAt: timestamp("Time of the enrollment", "2026-03-01T09:30:00.000Z"),
  ...labels
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
  updatedAt: timestamp("Time at which anything about the portfolio last changed")
}).annotate({ identifier: "Portfolio", description: "One user in one strategy, with one smart account a chain." })

const Attention = Schema.Struct({
  code: AttentionCode.annotate({
    title: "AttentionCode",
    description:
      "`signature_required`: a chain no longer lets the agent act; `permission_expired`, `permission_expiring`: what the owner signed has run out, or does within 14 days; `permission_revoked`: the owner revoked it; `permission_outdated`: it is from before the trade guard; `run_failed`: the last run did; `transfer_unclear`: a transfer between chains is late, or the chains do not agree about it; `outcome_unclear`: something was sent to a chain, and the chain has not shown what became of it; `gas_too_dear`: what was sent waits for cheaper gas, and is taken back when that does not come; `chain_behind`: the nodes of a chain are behind what is known of the portfolio; `foreign_authority`: somebody else may move what is held, as after a theft of the agent's key.",
    examples: ["signature_required"]
  }),
  since: timestamp("Time since which it is so; for what is to come, when it comes"),
  actor: Actor.annotate({
    title: "AttentionActor",
    description: "Who has to act: the end user, the integrator, or the operator of the service.",
    examples: ["owner"]
  }),
  action: Schema.String.annotate({
    description: "Sentence for people: what is wrong, and what to do.",
    examples: ["The agent's permission has run out: let the owner sign anew"]
  }),
  operationId: Schema.NullOr(OperationIdText).annotate({
    description: "The operation that waits or failed.",
    examples: [null]
  })
}).annotate({ identifier: "Attention", description: "Something about the portfolio that needs a person to act." })

const LastOperation = Schema.Struct({
  operationId: OperationIdText,
  kind: OperationKind.annotate({ description: "What was done.", examples: ["rebalance"] }),
  state: OperationState.annotate({ description: "How it ended.", examples: ["completed"] }),
  outcome: Schema.NullOr(Outcome).annotate({
    description: "What the operation did; null when that is not known.",
    examples: ["nothing_to_do"]
  }),
  reason: Schema.NullOr(Schema.String).annotate({
    description: "Sentence for people: why nothing or not all was done.",
    examples: ["Every asset is on its target"]
  }),
  finishedAt: timestamp("Time at which it ended")
}).annotate({ identifier: "LastOperation", description: "The latest operation that ended." })

export const PortfolioDetail = Schema.Struct({
  ...Portfolio.fields,
  activeOperationId: Schema.NullOr(OperationIdText).annotate({
    description: "The operation that is not finished, `awaiting_user` included; null when nothing is under way.",
    examples: [null]
  }),
  lastOperation: Schema.NullOr(LastOperation).annotate({ description: "Null before the first has ended." }),
  attention: Schema.Array(Attention).annotate({ description: "What needs a person to act; empty when nothing does." })
}).annotate({ identifier: "PortfolioDetail", description: "A portfolio with its current state." })

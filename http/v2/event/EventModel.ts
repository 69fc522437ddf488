/** An event of the tenant's log on the wire. */
import { Schema } from "effect"
import { OperationKind, OperationState, OperationOrigin } from "#domain/operation/Operation.ts"
import { Outcome } from "#http/operation/OperationResultModel.ts"
import {
  AssetIdText,
  FlowIdParam,
  OperationIdText,
  PortfolioIdText,
  StrategyIdText,
  timestamp,
  written
} from "#http/values/values.ts"

const orNull = <S extends Schema.Top>(id: S, what: string) =>
  Schema.NullOr(id).annotate({ description: `The ${what} concerned, if any.`, examples: [null] })

export const eventIdPattern = /^(0|[1-9][0-9]{0,14})$/u

const envelope = {
  eventId: written("Number of the event in the tenant's log; go on after it.", eventIdPattern, "1207"),
  at: timestamp("Time at which it happened"),
  operationId: orNull(OperationIdText, "operation"),
  portfolioId: orNull(PortfolioIdText, "portfolio"),
  strategyId: orNull(StrategyIdText, "strategy")
}

const type = <const Types extends ReadonlyArray<string>>(types: Types, description: string) =>
  Schema.Literals(types).annotate({ title: "Type", description, examples: [types[0]!] })

const only = <const Type extends string>(one: Type, description: string) =>
  Schema.Literal(one).annotate({ title: "Type", description })

const ofOperation = {
  kind: OperationKind.annotate({ description: "What is done.", examples: ["rebalance"] }),
  trigger: OperationOrigin.annotate({ description: "What started it.", examples: ["scheduled"] }),
  sequence: Schema.Int.annotate({ description: "Number within the operation, as in its stream.", examples: [3] })
}

const StateChanged = Schema.Struct({
  ...envelope,
  type: only("operation.state_changed", "An operation entered a state."),
  data: Schema.Struct({
    ...ofOperation,
    state: OperationState.annotate({ description: "The state from now on.", examples: ["completed"] }),
    error: Schema.NullOr(Schema.String).annotate({ description: "Why it failed.", examples: [null] }),
    outcome: Schema.NullOr(Outcome).annotate({ description: "What it did, at its end.", examples: ["traded"] })
  }).annotate({ description: "The change." })
}).annotate({ identifier: "OperationStateChangedEvent", description: "An operation entered a state." })

const Progressed = Schema.Struct({
  ...envelope,
  type: only("operation.progressed", "Something happened on the way of an operation."),
  data: Schema.Struct({
    ...ofOperation,
    event: written("What happened.", /^[a-z0-9_.]{1,64}$/u, "withdrawal_waits"),
    detail: Schema.Json.annotate({
      description: "Its particulars.",
      examples: [{ reason: "the chain does not answer" }]
    })
  }).annotate({ description: "What happened." })
}).annotate({ identifier: "OperationProgressedEvent", description: "Something happened on the way of an operation." })

const PortfolioEvent = Schema.Struct({
  ...envelope,
  type: type(
    [
      "portfolio.enrolled",
      "portfolio.renamed",
      "portfolio.archived",
      "portfolio.revoked",
      "portfolio.permitted",
      "portfolio.started",
      "portfolio.paused"
    ],
    "What became of a portfolio; `portfolio.permitted`: its owner signed anew after a revocation."
  ),
  data: Schema.Struct({}).annotate({ description: "Nothing more: read the portfolio.", examples: [{}] })
}).annotate({ identifier: "PortfolioEvent", description: "What became of a portfolio." })

const ForeignAuthorityEvent = Schema.Struct({
  ...envelope,
  type: only("portfolio.foreign_authority", "Somebody else may move an asset of a portfolio."),
  data: Schema.Struct({
    assetId: AssetIdText,
    holder: written(
      "Address of who may move it or close its account.",
      /^[1-9A-HJ-NP-Za-km-z]{32,44}$/u,
      "7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2"
    )
  }).annotate({ description: "The asset and who may move it." })
}).annotate({
  identifier: "ForeignAuthorityEvent",
  description: "Somebody else may move an asset of a portfolio, as after a theft of the agent's key."
})

const EnrollmentEvent = Schema.Struct({
  ...envelope,
  type: only("enrollment.started", "An owner was given something to sign."),
  data: Schema.Struct({
    flowId: FlowIdParam
  }).annotate({ description: "The flow." })
}).annotate({ identifier: "EnrollmentEvent", description: "An owner was given something to sign." })

const StrategyEvent = Schema.Struct({
  ...envelope,
  type: type(
    ["strategy.created", "strategy.version_published", "strategy.archived", "strategy.restored", "strategy.deleted"],
    "What became of a strategy."
  ),
  data: Schema.Struct({
    version: Schema.Int.annotate({ description: "The strategy's head version from now on.", examples: [2] })
  }).annotate({ description: "The version." })
}).annotate({ identifier: "StrategyEvent", description: "What became of a strategy." })

export const TenantEvent = Schema.Union([
  StateChanged,
  Progressed,
  PortfolioEvent,
  ForeignAuthorityEvent,
  EnrollmentEvent,
  StrategyEvent
]).annotate({ identifier: "TenantEvent", description: "One event of the tenant's log." })

/**
 * LI.FI's shapes, as far as they are read: `GET /quote`, `GET /status`, `POST /advanced/routes` and
 * `POST /advanced/stepTransaction` of API v1. What is not named here is ignored; what is, must be there.
 */
import { Schema } from "effect"

const Text = Schema.String.check(Schema.isMaxLength(4_096))
const Digits = Schema.String.check(Schema.isPattern(/^[0-9]{1,78}$/u))

const Token = Schema.Struct({ chainId: Schema.Int, address: Text })

const Action = Schema.Struct({
  fromChainId: Schema.Int,
  toChainId: Schema.Int,
  fromToken: Token,
  toToken: Token,
  fromAmount: Digits,
  fromAddress: Schema.optionalKey(Text),
  toAddress: Schema.optionalKey(Text)
})

/** Decimal dollars; LI.FI leaves them out where it has no price. */
const Usd = Schema.optionalKey(Text)

const Estimate = Schema.Struct({
  fromAmount: Digits,
  toAmount: Digits,
  toAmountMin: Digits,
  approvalAddress: Text,
  executionDuration: Schema.Finite,
  feeCosts: Schema.optionalKey(Schema.Array(Schema.Struct({ included: Schema.Boolean }))),
  gasCosts: Schema.optionalKey(Schema.Array(Schema.Struct({ amountUSD: Usd })))
})
export type Estimate = typeof Estimate.Type

/** Numbers are strings, in hex as a rule. */
const TransactionRequest = Schema.Struct({
  from: Schema.optionalKey(Text),
  to: Text,
  chainId: Schema.optionalKey(Schema.Int),
  data: Schema.String.check(Schema.isPattern(/^0x(?:[0-9a-fA-F]{2})*$/u), Schema.isMaxLength(200_000)),
  value: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^(?:0x[0-9a-fA-F]{1,64}|[0-9]{1,78})$/u)))
})

/** A step of a route: everything but its transaction. */
export const LifiRouteStep = Schema.Struct({
  type: Schema.Literal("lifi"),
  tool: Text,
  action: Action,
  estimate: Estimate
})
export type LifiRouteStep = typeof LifiRouteStep.Type

/** Routes are read one by one, so that one of an unknown shape does not hide the others; so are their steps. */
export const LifiRoutes = Schema.Struct({ routes: Schema.Array(Schema.Unknown) })
export const LifiRoute = Schema.Struct({ steps: Schema.Array(Schema.Unknown) })

/** One step with its transaction: what `/quote` and `/advanced/stepTransaction` answer. */
export const LifiStep = Schema.Struct({
  type: Schema.String,
  tool: Text,
  action: Action,
  estimate: Estimate,
  transactionRequest: TransactionRequest
})
export type LifiStep = typeof LifiStep.Type

const Leg = Schema.Struct({ chainId: Schema.Int, txHash: Schema.optionalKey(Text), amount: Schema.optionalKey(Text) })

export const LifiStatus = Schema.Struct({
  status: Schema.Literals(["NOT_FOUND", "INVALID", "PENDING", "DONE", "FAILED"]),
  substatus: Schema.optionalKey(Text),
  substatusMessage: Schema.optionalKey(Text),
  sending: Schema.optionalKey(Leg),
  receiving: Schema.optionalKey(Leg)
})
export type LifiStatus = typeof LifiStatus.Type

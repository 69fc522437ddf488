/** The two stages of an enrollment and what a flow remembers between them. Source: interface "enroll", shapes 2.15, 2.16. */
import { Schema, type DateTime } from "effect"
import { EvmAccountId } from "#domain/Caip.ts"
import type { Authorization } from "#domain/enrollment/Authorization.ts"
import { PortfolioId, StrategyId, type FlowId, type TenantId } from "#domain/Ids.ts"

/** Issued by stage 1; the idempotency anchor of stage 2. */
export interface EnrollmentFlow {
  readonly flowId: FlowId
  readonly tenantId: TenantId
  readonly strategyId: StrategyId
  readonly authorization: Authorization
  readonly createdAt: DateTime.Utc
  /** 24 hours after stage 1. */
  readonly expiresAt: DateTime.Utc
}

/** Stage 2 made the portfolio. */
export const Enrolled = Schema.TaggedStruct("Enrolled", {
  portfolioId: PortfolioId,
  portfolioName: Schema.NullOr(Schema.String),
  strategyId: StrategyId,
  smartAccounts: Schema.Array(EvmAccountId)
})
export type Enrolled = typeof Enrolled.Type

/** Stage 2 was refused for good; an identical replay gets the same refusal. */
export const Refused = Schema.TaggedStruct("Refused", {
  error: Schema.Literals(["ValidationFailed", "PortfolioExists"]),
  message: Schema.String,
  details: Schema.Array(Schema.String)
})
export type Refused = typeof Refused.Type

/** What stage 2 answered; stored and replayed. */
export const EnrollmentOutcome = Schema.Union([Enrolled, Refused])
export type EnrollmentOutcome = typeof EnrollmentOutcome.Type

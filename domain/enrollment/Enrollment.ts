/**
 * The two stages in which an owner authorizes something, and what a flow stores between them. Source: interface
 * "enroll", shapes 2.15, 2.16 and 5 A.
 */
import { type DateTime, Schema } from "effect"
import { AccountId } from "#domain/values/Caip.ts"
import type { Authorization } from "#domain/account/Authorization.ts"
import type { IssuedSubAccount } from "#domain/account/SolanaWallets.ts"
import { type FlowId, PortfolioId, StrategyId, type TenantId } from "#domain/values/Ids.ts"
import { Portfolio } from "#domain/portfolio/Portfolio.ts"

/**
 * What stage 2 will do with the owner's signature: make a portfolio, add chains to one, or replace the permissions that
 * it has.
 */
export type FlowPurpose =
  | { readonly _tag: "Enroll" }
  | { readonly _tag: "Activate"; readonly portfolioId: PortfolioId }
  | { readonly _tag: "Renew"; readonly portfolioId: PortfolioId }

/** Issued by stage 1; the idempotency anchor of stage 2. */
export interface EnrollmentFlow {
  readonly flowId: FlowId
  readonly tenantId: TenantId
  readonly purpose: FlowPurpose
  readonly strategyId: StrategyId
  readonly authorization: Authorization
  /** Left out where the chains are not Solana. */
  readonly subAccount?: IssuedSubAccount
  readonly createdAt: DateTime.Utc
  /** 24 hours after stage 1. */
  readonly expiresAt: DateTime.Utc
}

/** A flow of an enrollment on Solana. */
export interface IssuedOnSolana {
  readonly subAccount: IssuedSubAccount
}

export const isOnSolana = (flow: EnrollmentFlow): flow is EnrollmentFlow & IssuedOnSolana =>
  flow.subAccount !== undefined

/** Stage 2 made the portfolio. */
export const Enrolled = Schema.TaggedStruct("Enrolled", {
  portfolioId: PortfolioId,
  portfolioName: Schema.NullOr(Schema.String),
  strategyId: StrategyId,
  smartAccounts: Schema.Array(AccountId),
  /** The role of the agent in the owner's wallet, of a portfolio on Solana. */
  walletRoleId: Schema.optionalKey(Schema.Int),
  externalId: Schema.optionalKey(Schema.String),
  metadata: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
})
export type Enrolled = typeof Enrolled.Type

/** Stage 2 added chains or replaced permissions; the portfolio as it was right after. */
export const Activated = Schema.TaggedStruct("Activated", { portfolio: Portfolio })
export type Activated = typeof Activated.Type

/** Stage 2 was refused for good; an identical replay gets the same refusal. */
export const Refused = Schema.TaggedStruct("Refused", {
  error: Schema.Literals(["ValidationFailed", "PortfolioExists"]),
  message: Schema.String,
  details: Schema.Array(Schema.String)
})
export type Refused = typeof Refused.Type

/** What stage 2 answered; stored and replayed. */
export const EnrollmentOutcome = Schema.Union([Enrolled, Activated, Refused])
export type EnrollmentOutcome = typeof EnrollmentOutcome.Type

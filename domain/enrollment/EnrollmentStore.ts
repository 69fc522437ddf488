/**
 * Port: flows between their two stages, account indexes, and the one transaction in which an owner's signature takes
 * effect.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { Labels, LabelsRefusal } from "#domain/values/Labels.ts"
import type { ChainId, WalletId } from "#domain/values/Caip.ts"
import type { Activated, EnrollmentFlow, EnrollmentOutcome } from "#domain/enrollment/Enrollment.ts"
import type { Grant } from "#domain/account/Grant.ts"
import type { FlowId, PortfolioId, StrategyId, TenantId } from "#domain/values/Ids.ts"

/** What stage 2 found under its `flowId`. */
export type FlowClaim =
  /** This call holds the flow until its lease ends. */
  | { readonly _tag: "Claimed" }
  /** The outcome that an earlier request with this body was answered. */
  | { readonly _tag: "Replayed"; readonly outcome: EnrollmentOutcome }
  /** Another body was answered before, or holds the lease. */
  | { readonly _tag: "Mismatch" }
  /** Another call with the same body holds the lease. */
  | { readonly _tag: "InProgress" }

export interface ClaimRequest {
  readonly flowId: FlowId
  /** SHA-256 of the canonical request body. */
  readonly requestHash: Uint8Array
  readonly now: DateTime.Utc
  /** End of the lease: a claim without an outcome, because its process died, may then be taken over, with any body. */
  readonly leaseUntil: DateTime.Utc
}

export interface NewPortfolio extends Labels {
  readonly portfolioId: PortfolioId
  readonly name: string | null
  readonly flow: EnrollmentFlow
  /** The owner's signature over the authorization's message. */
  readonly ownerSignature: string
  /** First automated rebalance. */
  readonly dueAt: DateTime.Utc
  readonly createdAt: DateTime.Utc
}

/** Nothing is written unless the tag is `Committed`. */
export type CommitResult =
  | { readonly _tag: "Committed" }
  /** The owner has a live portfolio in the strategy. */
  | { readonly _tag: "PortfolioExists" }
  /** Another enrollment of the owner used the index first. */
  | { readonly _tag: "IndexTaken" }
  | LabelsRefusal

/** Why an activation is not written. */
export type ActivationRefusal =
  /** The portfolio is archived, or not the tenant's. */
  | { readonly _tag: "PortfolioGone" }
  /** Another activation took one of the chains first, and no signature is awaited on it. */
  | { readonly _tag: "ChainActive" }
  /** The owner revoked after the flow began. */
  | { readonly _tag: "Revoked" }

/** A live portfolio as far as further signatures of its owner are concerned. */
export interface EnrolledPortfolio {
  readonly strategyId: StrategyId
  /** Oldest first; the first is that of the enrollment. */
  readonly grants: readonly [Grant, ...ReadonlyArray<Grant>]
  /** Authorized chains on which the agent can do nothing until the owner has signed anew. */
  readonly awaited: ReadonlyArray<ChainId>
  /** A revocation of the owner is on its way to the chains. */
  readonly isRevoking: boolean
}

/** Chains that a portfolio gets, or is authorized on anew, by a flow of purpose `Activate` or `Renew`. */
export interface NewGrant {
  readonly portfolioId: PortfolioId
  readonly flow: EnrollmentFlow
  readonly ownerSignature: string
  readonly grantedAt: DateTime.Utc
}

/**
 * Where flows, account indexes and grants are kept.
 *
 * **When to use**
 *
 * Use in services of this context, and where a rule needs all grants of a portfolio.
 *
 * **Details**
 *
 * A flow is claimed, then committed, activated, given an outcome or released, by the same claim.
 */
export class EnrollmentStore extends Context.Service<
  EnrollmentStore,
  {
    /**
     * The index that the owner's next portfolio gets; one sequence an owner over all tenants, because it decides the
     * address.
     */
    readonly candidateIndex: (owner: WalletId) => Effect.Effect<bigint>
    /** None when the tenant has no live portfolio of that id. */
    readonly findEnrolled: (
      tenantId: TenantId,
      portfolioId: PortfolioId
    ) => Effect.Effect<Option.Option<EnrolledPortfolio>>
    /** The live portfolio that the owner has in the strategy with this tenant. */
    readonly findPortfolio: (
      tenantId: TenantId,
      strategyId: StrategyId,
      owner: WalletId
    ) => Effect.Effect<Option.Option<PortfolioId>>
    /** False when the strategy was deleted meanwhile: then there is no flow. */
    readonly insertFlow: (flow: EnrollmentFlow) => Effect.Effect<boolean>
    readonly findFlow: (tenantId: TenantId, flowId: FlowId) => Effect.Effect<Option.Option<EnrollmentFlow>>
    /** Removes at most `limit` flows that expired before the time, the earliest first. Answers how many. */
    readonly pruneFlows: (expiredBefore: DateTime.Utc, limit: number) => Effect.Effect<number>
    readonly claim: (request: ClaimRequest) => Effect.Effect<FlowClaim>
    /** Gives this claim up without an answer: the flow is as it was before, open to any body. */
    readonly release: (request: ClaimRequest) => Effect.Effect<void>
    /**
     * Portfolio, smart accounts, schedule and the advance of the index, in one transaction with the flow's outcome.
     */
    readonly commit: (portfolio: NewPortfolio, outcome: EnrollmentOutcome) => Effect.Effect<CommitResult>
    /**
     * A further grant of the portfolio and its smart accounts, in one transaction with the flow's outcome. A flow of
     * purpose `Renew` lifts a revocation; the schedule stays paused. Nothing is written unless the answer is
     * `Activated`.
     */
    readonly activate: (grant: NewGrant) => Effect.Effect<Activated | ActivationRefusal>
    /** Stores the outcome of a claimed flow that changed nothing else. */
    readonly storeOutcome: (flowId: FlowId, outcome: EnrollmentOutcome) => Effect.Effect<void>
  }
>()("ballast/domain/enrollment/EnrollmentStore") {}

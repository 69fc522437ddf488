/** Port: withdrawals, and the claims on their nonces by which a request is carried out once. */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { AccountId } from "#domain/values/Caip.ts"
import type { OperationId, PortfolioId, TenantId } from "#domain/values/Ids.ts"
import type { OperationEnd } from "#domain/operation/OperationResult.ts"
import type { SwapSources } from "#domain/strategy/resolveSwap.ts"
import type { AuthorizedWithdrawal } from "#domain/withdrawal/AuthorizedWithdrawal.ts"
import type { SignedWithdrawal } from "#domain/account/WithdrawalMessage.ts"
import type { WithdrawalSource } from "#domain/withdrawal/WithdrawalSource.ts"

/** What stage 2 answers, the first time and at each replay. */
export interface AcceptedWithdrawal {
  readonly operationId: OperationId
  readonly submittedAt: DateTime.Utc
}

/** What stage 2 found under the nonce. */
export type NonceClaim =
  /** This call holds the nonce until its lease ends. */
  | { readonly _tag: "Claimed" }
  /** The withdrawal that an earlier request with this body began. */
  | { readonly _tag: "Replayed"; readonly accepted: AcceptedWithdrawal }
  /** Another body holds it or was accepted. */
  | { readonly _tag: "Mismatch" }
  /** Another call with the same body holds the lease. */
  | { readonly _tag: "InProgress" }

export interface NonceClaimRequest {
  readonly tenantId: TenantId
  /** `message.nonce`. */
  readonly nonce: string
  /** SHA-256 of the canonical request body. */
  readonly requestHash: Uint8Array
  readonly now: DateTime.Utc
  /**
   * End of the lease: a claim that was neither accepted nor released, because its process died, may then be taken over.
   */
  readonly leaseUntil: DateTime.Utc
}

export interface NewWithdrawal extends SignedWithdrawal, AcceptedWithdrawal {
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
  readonly accountId: AccountId
  /** The chain's block at which the balances were found to cover it. */
  readonly acceptedAtBlock: bigint
}

/** A withdrawal that was accepted, with what selling for it may cost. */
export interface StoredWithdrawal extends AuthorizedWithdrawal {
  /** The chain's block at which the balances were found to cover it. */
  readonly acceptedAtBlock: bigint
  readonly swap: SwapSources
}

/** How a withdrawal ended. */
export interface WithdrawalEnd extends OperationEnd {
  /** The transaction that carried it out and what reached the recipient, as stored JSON; null when nothing moved. */
  readonly outcome: unknown
}

/**
 * Where withdrawals and the claims on their nonces are kept.
 *
 * **When to use**
 *
 * Use in services and the run of this context.
 */
export class WithdrawalStore extends Context.Service<
  WithdrawalStore,
  {
    /** The tenant's portfolio with its owner's grants and the swap preferences that count. */
    readonly source: (tenantId: TenantId, portfolioId: PortfolioId) => Effect.Effect<Option.Option<WithdrawalSource>>
    readonly claim: (request: NonceClaimRequest) => Effect.Effect<NonceClaim>
    /** Gives this claim up: the nonce is as if it had never been sent. */
    readonly release: (request: NonceClaimRequest) => Effect.Effect<void>
    /**
     * The accepted operation and the withdrawal, in one transaction with the claim's outcome. False, and nothing is
     * written, when the claim is no longer this call's.
     */
    readonly accept: (withdrawal: NewWithdrawal, claim: NonceClaimRequest) => Effect.Effect<boolean>
    /** What the operation carries out, under the grant that counts on its chain now. None when it is unknown. */
    readonly find: (operationId: OperationId) => Effect.Effect<Option.Option<StoredWithdrawal>>
    /**
     * Terminal state, outcome and the portfolio's `updatedAt` together, so that positions show it immediately. A
     * finished withdrawal stays as it is.
     */
    readonly finish: (end: WithdrawalEnd) => Effect.Effect<void>
  }
>()("ballast/domain/withdrawal/WithdrawalStore") {}

/** Port: revocations between their two stages, and what an accepted one changes. */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import type { PermissionId } from "#domain/account/Authorization.ts"
import type { OperationReport } from "#domain/operation/OperationResult.ts"
import type { Revocation } from "#domain/account/Revocation.ts"
import type { FlowId, OperationId, PortfolioId, TenantId } from "#domain/values/Ids.ts"
import type { SignedRevocation } from "#domain/revocation/RevocationTransactions.ts"

/** Issued by stage 1; the idempotency anchor of stage 2. */
export interface RevocationFlow {
  readonly flowId: FlowId
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
  readonly revocation: Revocation
  readonly createdAt: DateTime.Utc
  readonly expiresAt: DateTime.Utc
}

/** What stage 2 answers, the first time and at each replay. */
export interface AcceptedRevocation {
  readonly operationId: OperationId
  readonly submittedAt: DateTime.Utc
}

/** A flow, and what was accepted under it. */
export interface StoredFlow extends RevocationFlow {
  readonly accepted: (AcceptedRevocation & { readonly signature: string }) | null
}

/** How a revocation ended. */
export interface RevocationEnd {
  readonly operationId: OperationId
  readonly at: DateTime.Utc
  /** Null when it was carried out on every chain; otherwise where not, and why. */
  readonly error: string | null
  /** What it did; left out when a fault of ours ended it. */
  readonly ended?: OperationReport
}

/**
 * Where revocations are kept.
 *
 * **When to use**
 *
 * Use in services and the run of this context alone.
 */
export class RevocationStore extends Context.Service<
  RevocationStore,
  {
    /** Replaces an earlier flow of the portfolio that was not signed. */
    readonly insert: (flow: RevocationFlow) => Effect.Effect<void>
    readonly find: (tenantId: TenantId, flowId: FlowId) => Effect.Effect<Option.Option<StoredFlow>>
    /** Ids of the permissions, by chain, that accepted revocations of the portfolio end. */
    readonly revoked: (
      portfolioId: PortfolioId
    ) => Effect.Effect<ReadonlyArray<{ readonly chainId: ChainId; readonly permissionId: PermissionId }>>
    /**
     * The accepted operation, the signature, and the portfolio paused, in one transaction. False, and nothing is
     * written, when the flow was accepted before, is gone, or its portfolio was archived.
     */
    readonly accept: (flow: RevocationFlow, signature: string, accepted: AcceptedRevocation) => Effect.Effect<boolean>
    /** What the operation carries out. */
    readonly load: (operationId: OperationId) => Effect.Effect<Option.Option<SignedRevocation>>
    /** Enters the terminal state: `completed`, or `failed` with the error. A finished operation stays as it is. */
    readonly finish: (end: RevocationEnd) => Effect.Effect<void>
  }
>()("ballast/domain/revocation/RevocationStore") {}

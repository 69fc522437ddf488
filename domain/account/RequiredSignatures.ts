/**
 * Port: chains on which the agent can act no longer until the owner has signed anew, and the run that waits there for
 * it. A chain is waited for until another grant counts on it, or until it accepts the agent again by itself.
 */
import { Context, type DateTime, type Effect, Schema } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import type { PermissionId } from "#domain/account/Authorization.ts"
import type { OperationId, PortfolioId } from "#domain/values/Ids.ts"

/**
 * `agent_changed`: the grant names another agent than the service signs as. `permission_revoked`: the owner took the
 * permission back on the chain. `signature_refused`: the account does not take the owner's signature for the owner's.
 */
export const SignatureCause = Schema.Literals(["agent_changed", "permission_revoked", "signature_refused"])
export type SignatureCause = typeof SignatureCause.Type

export interface RequiredSignature {
  /** An unfinished run. */
  readonly operationId: OperationId
  readonly chainId: ChainId
  /** The grant that the chain does not accept. */
  readonly permissionId: PermissionId
  readonly cause: SignatureCause
  readonly at: DateTime.Utc
}

/**
 * Chains on which a run waits for its owner's new signature.
 *
 * **When to use**
 *
 * Use where a chain refuses the agent (`require`), where a grant or the chain ends that (`clear`), and before a run
 * goes on (`resume`). The waiting itself is `SignatureRequests`.
 */
export class RequiredSignatures extends Context.Service<
  RequiredSignatures,
  {
    /** Makes the run the one that waits on the chain; false when another unfinished run of the portfolio does. */
    readonly require: (signature: RequiredSignature) => Effect.Effect<boolean>
    /** The chains on which the operation still waits. */
    readonly awaitedBy: (operationId: OperationId) => Effect.Effect<ReadonlyArray<ChainId>>
    /** The chain accepts the agent after all. */
    readonly clear: (portfolioId: PortfolioId, chainId: ChainId) => Effect.Effect<void>
    /** Enters `running` from `awaiting_user`; false while another run of the portfolio is at work. */
    readonly resume: (operationId: OperationId, at: DateTime.Utc) => Effect.Effect<boolean>
  }
>()("ballast/domain/account/RequiredSignatures") {}

/** The caller of a procedure: the person with a wallet session. Provided to every procedure that needs one. */
import { Context } from "effect"
import type { Role, SignInWalletId } from "#domain/identity/User.ts"
import type { SessionId, TenantId, UserId } from "#domain/values/Ids.ts"

/**
 * The person with a wallet session, and the tenant that they act for.
 *
 * **When to use**
 *
 * Use in services whose answer depends on the person. Calls with an API key require `Caller`.
 */
export class SignedIn extends Context.Service<
  SignedIn,
  {
    readonly sessionId: SessionId
    readonly userId: UserId
    readonly walletId: SignInWalletId
    readonly tenantId: TenantId
    readonly role: Role
  }
>()("ballast/domain/identity/SignedIn") {}

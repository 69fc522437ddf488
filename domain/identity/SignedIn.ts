/** Who is calling: the person behind a wallet session. Provided to every procedure that needs one. */
import { Context } from "effect"
import type { Role, SignInWalletId } from "#domain/identity/User.ts"
import type { SessionId, TenantId, UserId } from "#domain/Ids.ts"

/**
 * The person behind a wallet session, and the tenant that they act for.
 *
 * **When to use**
 *
 * Use in services whose answer depends on the person. What is asked with an API key requires `Caller`.
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

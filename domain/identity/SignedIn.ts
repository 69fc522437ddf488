/** Who is calling: the person behind a wallet session. Provided to every procedure that needs one. */
import { Context } from "effect"
import type { Role, SignInWalletId } from "#domain/identity/User.ts"
import type { SessionId, TenantId, UserId } from "#domain/Ids.ts"

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

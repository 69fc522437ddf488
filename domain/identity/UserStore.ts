/** Port: where users and their memberships are kept. */
import { Context, type Effect, type Option } from "effect"
import type { Tenant } from "#domain/identity/Tenant.ts"
import type { Member, User } from "#domain/identity/User.ts"
import type { TenantId, UserId } from "#domain/values/Ids.ts"

/**
 * Where users and memberships are kept.
 *
 * **When to use**
 *
 * Use in `SignIns` and `Members` alone.
 */
export class UserStore extends Context.Service<
  UserStore,
  {
    /**
     * The memberships of the wallet's user, oldest first. A new wallet becomes `user`, and one that is nowhere a member
     * becomes the owner of `tenant`; of concurrent calls, one does so.
     */
    readonly enter: (user: User, tenant: Tenant) => Effect.Effect<readonly [Member, ...ReadonlyArray<Member>]>
    readonly findMember: (tenantId: TenantId, userId: UserId) => Effect.Effect<Option.Option<Member>>
    /** Members of the tenant, oldest first. */
    readonly listMembers: (tenantId: TenantId) => Effect.Effect<ReadonlyArray<Member>>
    /**
     * Makes the wallet's user a member with the role, or gives the member that role; the user id counts when the wallet
     * is new. None when no owner would be left.
     */
    readonly setMember: (member: Member) => Effect.Effect<Option.Option<Member>>
    /** Ends membership and its sessions. False when there is none, or when no owner would be left. */
    readonly removeMember: (tenantId: TenantId, userId: UserId) => Effect.Effect<boolean>
  }
>()("ballast/domain/identity/UserStore") {}

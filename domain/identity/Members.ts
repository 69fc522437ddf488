/** Who else may act for a tenant. Owners invite by the address of a wallet; its holder signs in and is a member. */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { NotFound, PermissionDenied, ValidationFailed } from "#domain/errors/Errors.ts"
import { AccessChanges } from "#domain/identity/AccessChanges.ts"
import { SignedIn } from "#domain/identity/SignedIn.ts"
import type { Member, Role, SignInWalletId } from "#domain/identity/User.ts"
import { UserStore } from "#domain/identity/UserStore.ts"
import { makeUserId, type UserId } from "#domain/values/Ids.ts"

/** Members of one tenant at most. */
const maxMembers = 100

/** Fails unless the caller is an owner of its tenant. */
export const requireOwner = Effect.flatMap(SignedIn, ({ role }) =>
  role === "owner"
    ? Effect.void
    : Effect.fail(new PermissionDenied({ message: "Only owners of the tenant may do this; you are a viewer" }))
)

/**
 * People who act for a tenant.
 *
 * **When to use**
 *
 * Use in procedures with a session. The first owner of a tenant is made by `SignIns`.
 */
export class Members extends Context.Service<
  Members,
  {
    /** Makes the wallet a member with the role, or changes the role that it has. */
    readonly invite: (
      walletId: SignInWalletId,
      role: Role
    ) => Effect.Effect<Member, PermissionDenied | ValidationFailed, SignedIn>
    readonly list: Effect.Effect<ReadonlyArray<Member>, never, SignedIn>
    /** Ends a membership and its sessions at once. The last owner stays. */
    readonly remove: (userId: UserId) => Effect.Effect<void, PermissionDenied | NotFound | ValidationFailed, SignedIn>
  }
>()("ballast/domain/identity/Members") {
  static readonly layer = Layer.effect(
    Members,
    Effect.gen(function* () {
      const store = yield* UserStore
      const { changed } = yield* AccessChanges
      const random = yield* SecureRandom.SecureRandom

      const lastOwner = () =>
        new ValidationFailed({
          message: "The tenant would be left without an owner; make somebody else an owner first",
          details: ["role: the only owner stays an owner"]
        })

      const invite = Effect.fn("Members.invite")(function* (walletId: SignInWalletId, role: Role) {
        yield* requireOwner
        const { tenantId } = yield* SignedIn
        const members = yield* store.listMembers(tenantId)
        if (members.length >= maxMembers && members.every((member) => member.walletId !== walletId))
          return yield* new ValidationFailed({
            message: `A tenant has at most ${maxMembers} members`,
            details: [`walletId: ${maxMembers} members are the most`]
          })
        const now = yield* DateTime.now
        const userId = yield* Effect.provideService(makeUserId, SecureRandom.SecureRandom, random)
        const member = yield* store.setMember({ userId, walletId, createdAt: now, tenantId, role, joinedAt: now })
        return Option.isNone(member) ? yield* lastOwner() : member.value
      })

      const list = Effect.flatMap(SignedIn, ({ tenantId }) => store.listMembers(tenantId)).pipe(
        Effect.withSpan("Members.list")
      )

      const remove = Effect.fn("Members.remove")(function* (userId: UserId) {
        yield* requireOwner
        const { tenantId } = yield* SignedIn
        if (Option.isNone(yield* store.findMember(tenantId, userId)))
          return yield* new NotFound({ message: `The tenant has no member ${userId}` })
        if (!(yield* store.removeMember(tenantId, userId))) return yield* lastOwner()
        yield* changed(tenantId)
      })

      return Members.of({ invite, list, remove })
    })
  )
}

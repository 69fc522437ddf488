/** A wallet session, opened as a sign-in does: of a member of the tenant, or of somebody with a tenant of their own. */
import { DateTime, Effect, Option, Redacted } from "effect"
import { Sessions } from "#domain/identity/Sessions.ts"
import type { Role, SignInWalletId } from "#domain/identity/User.ts"
import { UserStore } from "#domain/identity/UserStore.ts"
import { makeTenantId, makeUserId, type TenantId } from "#domain/values/Ids.ts"

export const signedIn = Effect.fnUntraced(function* (walletId: string, tenantId?: TenantId, role: Role = "owner") {
  const users = yield* UserStore
  const createdAt = yield* DateTime.now
  const user = { userId: yield* makeUserId, walletId: walletId as SignInWalletId, createdAt }
  const own = {
    tenantId: yield* makeTenantId,
    name: "Own",
    email: "own@own.test",
    entitlements: [],
    createdAt,
    disabledAt: null
  }
  const member =
    tenantId === undefined
      ? (yield* users.enter(user, own))[0]
      : Option.getOrThrow(yield* users.setMember({ ...user, tenantId, role, joinedAt: createdAt }))
  const nonce = { nonce: user.userId, expiresAt: DateTime.add(createdAt, { minutes: 10 }) }
  const { session, token } = Option.getOrThrow(yield* (yield* Sessions).open(member, nonce, null))
  return { token: Redacted.value(token), sessionId: session.sessionId, tenantId: member.tenantId }
})

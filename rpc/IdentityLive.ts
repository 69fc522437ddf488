import { DateTime, Effect, Option, Redacted } from "effect"
import { buildWith } from "#domain/effects/buildWith.ts"
import { Members } from "#domain/identity/Members.ts"
import { RequestSession } from "#domain/identity/access/RequestSession.ts"
import { Sessions } from "#domain/identity/Sessions.ts"
import type { Session } from "#domain/identity/SessionStore.ts"
import { SignIns } from "#domain/identity/SignIns.ts"
import type { Member } from "#domain/identity/User.ts"
import { IdentityProcedures } from "#rpc/Identity.ts"
import { Presented } from "#rpc/session/SessionAccess.ts"

const sessionView = ({ role, tenantId, userId, walletId }: Member, { expiresAt }: Session) => ({
  userId,
  walletId,
  tenantId,
  role,
  expiresAt: DateTime.formatIso(expiresAt)
})

const memberView = ({ joinedAt, role, userId, walletId }: Member) => ({
  userId,
  walletId,
  role,
  joinedAt: DateTime.formatIso(joinedAt)
})

export const IdentityLive = IdentityProcedures.toLayer(
  Effect.gen(function* () {
    const signIns = yield* SignIns
    const sessions = yield* Sessions
    const members = yield* Members
    const presented = yield* RequestSession

    return {
      "identity.nonce": () =>
        Effect.map(signIns.nonce, ({ expiresAt, nonce }) => ({ nonce, expiresAt: DateTime.formatIso(expiresAt) })),
      "identity.signIn": Effect.fnUntraced(function* ({ delivery = "bearer", ...request }, { headers }) {
        if (delivery === "cookie") yield* presented.requireCookie(headers)
        const { member, session, token } = yield* signIns.signIn(request)
        return { ...sessionView(member, session), delivery, token: Redacted.value(token) }
      }),
      // What a browser keeps is out of reach of scripts, and stays so: its token is not replaced.
      "identity.session": Effect.fnUntraced(function* () {
        const { delivery, found, token } = yield* Presented
        const next = delivery === "cookie" ? Option.none() : yield* sessions.renew(found, token)
        return {
          ...sessionView(found.member, found.session),
          delivery,
          token: Option.isNone(next) ? null : Redacted.value(next.value)
        }
      }),
      "identity.signOut": Effect.fnUntraced(function* () {
        yield* sessions.end((yield* Presented).found.session)
        return { delivery: "ended" as const, token: null }
      }),
      "identity.invite": ({ role, walletId }) => Effect.map(members.invite(walletId, role), memberView),
      "identity.members": () => Effect.map(members.list, (all) => ({ members: all.map(memberView) })),
      "identity.removeMember": ({ userId }) => Effect.as(members.remove(userId), { userId, removed: true as const })
    }
  })
).pipe(buildWith(Members, RequestSession, Sessions, SignIns))

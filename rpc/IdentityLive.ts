import { DateTime, Effect, Option, Redacted } from "effect"
import { RateLimits } from "#domain/request/RateLimits.ts"
import { buildWith } from "#domain/buildWith.ts"
import { Members } from "#domain/identity/Members.ts"
import { RequestSession } from "#domain/identity/access/RequestSession.ts"
import { Sessions } from "#domain/identity/Sessions.ts"
import type { Session } from "#domain/identity/SessionStore.ts"
import { SignIns } from "#domain/identity/SignIns.ts"
import type { Member } from "#domain/identity/User.ts"
import { IdentityProcedures } from "#rpc/Identity.ts"
import { makeCountCall } from "#rpc/session/countCall.ts"

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
    const countIn = yield* makeCountCall

    return {
      "identity.nonce": () =>
        Effect.map(signIns.nonce, ({ expiresAt, nonce }) => ({ nonce, expiresAt: DateTime.formatIso(expiresAt) })),
      "identity.signIn": ({ delivery = "bearer", ...request }) =>
        Effect.map(signIns.signIn(request), ({ member, session, token }) => ({
          ...sessionView(member, session),
          delivery,
          token: Redacted.value(token)
        })),
      // What a browser keeps is out of reach of scripts, and stays so: its token is not replaced.
      "identity.session": (_, { headers, rpc }) =>
        Effect.flatMap(presented.find(headers), ({ delivery, found, token }) =>
          countIn(rpc)(
            found.session.sessionId,
            Effect.gen(function* () {
              const next = delivery === "cookie" ? Option.none() : yield* sessions.renew(found, token)
              return {
                ...sessionView(found.member, found.session),
                delivery,
                token: Option.isNone(next) ? null : Redacted.value(next.value)
              }
            })
          )
        ),
      "identity.signOut": Effect.fnUntraced(function* (_, { headers }) {
        const { found } = yield* presented.find(headers)
        yield* sessions.end(found.session)
        return { delivery: "ended" as const, token: null }
      }),
      "identity.invite": ({ role, walletId }) => Effect.map(members.invite(walletId, role), memberView),
      "identity.members": () => Effect.map(members.list, (all) => ({ members: all.map(memberView) })),
      "identity.removeMember": ({ userId }) => Effect.as(members.remove(userId), { userId, removed: true as const })
    }
  })
).pipe(buildWith(Members, RateLimits, RequestSession, Sessions, SignIns))

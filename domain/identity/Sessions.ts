/**
 * Wallet sessions: a token that its holder may use for a week without a pause, and for 30 days at most.
 *
 * Only keyed hashes of tokens are stored. A token is replaced once a day, when its holder reads the session. The one
 * before works for another minute, for calls under way; after that it ends the session, because two use it then and one
 * of them is not its holder (docs/decisions/0160-wallet-sessions.md).
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import { SessionInvalid, type TenantDisabled } from "#domain/errors/Errors.ts"
import { AccessChanges } from "#domain/identity/AccessChanges.ts"
import { KeyHash } from "#domain/identity/KeyHash.ts"
import { type FoundSession, type Session, SessionStore, type UsedNonce } from "#domain/identity/SessionStore.ts"
import { tenantDisabled } from "#domain/identity/Tenant.ts"
import type { Member } from "#domain/identity/User.ts"
import { makeSessionId } from "#domain/values/Ids.ts"

export const life = Duration.days(30)
const idleLife = Duration.days(7)
const tokenLife = Duration.days(1)
const grace = Duration.minutes(1)
/** Use is noted this often at most, so that reads do not write. */
const noteInterval = Duration.hours(1)
/** Sessions of one user at the same time. */
const maxSessions = 20

/** What every token begins with, which sets it apart from an API key. */
export const tokenPrefix = "bs_"

/** A session at a moment when its token is known. */
export interface OpenSession {
  readonly session: Session
  readonly member: Member
  readonly token: Redacted.Redacted
}

export const sessionEnded = () => new SessionInvalid({ message: "The wallet session has ended; sign in again" })

/** Whether its time is over; pure. */
export const isOver = ({ expiresAt, usedAt }: Session, now: DateTime.Utc): boolean =>
  DateTime.isLessThanOrEqualTo(DateTime.min(expiresAt, DateTime.addDuration(usedAt, idleLife)), now)

/**
 * Wallet sessions and their tokens.
 *
 * **When to use**
 *
 * Use to open, find, renew and end sessions. Middleware finds the session of a request by `RequestSession`.
 */
export class Sessions extends Context.Service<
  Sessions,
  {
    /** Opens a session, until `notAfter` when that comes first. None when the nonce was used before. */
    readonly open: (
      member: Member,
      nonce: UsedNonce,
      notAfter: DateTime.Utc | null
    ) => Effect.Effect<Option.Option<OpenSession>>
    /** The session of a token, noted as in use. */
    readonly authenticate: (token: Redacted.Redacted) => Effect.Effect<FoundSession, SessionInvalid | TenantDisabled>
    /** A new token for a session whose token is a day old; none while it need not be replaced. */
    readonly renew: (found: FoundSession, token: Redacted.Redacted) => Effect.Effect<Option.Option<Redacted.Redacted>>
    readonly end: (found: Pick<Session, "sessionId" | "tenantId">) => Effect.Effect<void>
  }
>()("ballast/domain/identity/Sessions") {
  static readonly layer = Layer.effect(
    Sessions,
    Effect.gen(function* () {
      const store = yield* SessionStore
      const { changed } = yield* AccessChanges
      const { hash, hashes } = yield* KeyHash
      const random = yield* SecureRandom.SecureRandom

      const newToken = Effect.map(random.randomBytes(32), (bytes) =>
        Redacted.make(tokenPrefix + Base64Url.encode(bytes))
      )

      const open = Effect.fn("Sessions.open")(function* (
        member: Member,
        nonce: UsedNonce,
        notAfter: DateTime.Utc | null
      ) {
        const now = yield* DateTime.now
        const atMost = DateTime.addDuration(now, life)
        const token = yield* newToken
        const session: Session = {
          sessionId: yield* Effect.provideService(makeSessionId, SecureRandom.SecureRandom, random),
          userId: member.userId,
          tenantId: member.tenantId,
          createdAt: now,
          rotatedAt: now,
          usedAt: now,
          expiresAt: notAfter === null ? atMost : DateTime.min(notAfter, atMost)
        }
        const isOpen = yield* store.open({ ...session, hash: hash(token), nonce }, maxSessions)
        return isOpen ? Option.some({ session, member, token }) : Option.none()
      })

      const authenticate = Effect.fn("Sessions.authenticate")(function* (token: Redacted.Redacted) {
        if (!Redacted.value(token).startsWith(tokenPrefix)) return yield* sessionEnded()
        const ofToken = hashes(token)
        const found = yield* store.find(ofToken)
        if (Option.isNone(found)) return yield* sessionEnded()
        const { isCurrent, session, tenantIsDisabled } = found.value
        const now = yield* DateTime.now
        if (isOver(session, now)) return yield* sessionEnded()
        if (!isCurrent && DateTime.isGreaterThan(now, DateTime.addDuration(session.rotatedAt, grace))) {
          yield* store.end(session.sessionId, now)
          yield* changed(session.tenantId)
          return yield* sessionEnded()
        }
        if (tenantIsDisabled) return yield* tenantDisabled()
        if (found.value.isUnderOther && isCurrent && ofToken.other !== null)
          yield* store.rehash(session.sessionId, ofToken.other, ofToken.current)
        if (DateTime.isGreaterThan(now, DateTime.addDuration(session.usedAt, noteInterval)))
          yield* store.touch(session.sessionId, now)
        return found.value
      })

      const renew = Effect.fn("Sessions.renew")(function* (
        { isCurrent, session }: FoundSession,
        token: Redacted.Redacted
      ) {
        const now = yield* DateTime.now
        const isYoung = DateTime.isLessThan(now, DateTime.addDuration(session.rotatedAt, tokenLife))
        if (!isCurrent || isYoung) return Option.none()
        const next = yield* newToken
        const isReplaced = yield* store.rotate({
          sessionId: session.sessionId,
          from: hash(token),
          to: hash(next),
          at: now
        })
        return isReplaced ? Option.some(next) : Option.none()
      })

      const end = Effect.fn("Sessions.end")(function* ({
        sessionId,
        tenantId
      }: Pick<Session, "sessionId" | "tenantId">) {
        yield* store.end(sessionId, yield* DateTime.now)
        yield* changed(tenantId)
      })

      return Sessions.of({ open, authenticate, renew, end })
    })
  )
}

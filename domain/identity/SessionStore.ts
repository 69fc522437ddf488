/** Port: where wallet sessions are kept, by keyed hashes of their tokens, and which nonces were used. */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { SecretHashes } from "#domain/identity/KeyHash.ts"
import type { Member } from "#domain/identity/User.ts"
import type { SessionId, TenantId, UserId } from "#domain/values/Ids.ts"

export interface Session {
  readonly sessionId: SessionId
  readonly userId: UserId
  readonly tenantId: TenantId
  readonly createdAt: DateTime.Utc
  /** Time since which the session has its present token. */
  readonly rotatedAt: DateTime.Utc
  readonly usedAt: DateTime.Utc
  readonly expiresAt: DateTime.Utc
}

/** A session that has not ended, and who holds it. */
export interface FoundSession {
  readonly session: Session
  readonly member: Member
  readonly tenantIsDisabled: boolean
  /** False when the token is the one before, which was replaced at `rotatedAt`. */
  readonly isCurrent: boolean
  /** Its hash is one under the pepper that is accepted beside the current one. */
  readonly isUnderOther: boolean
}

export interface UsedNonce {
  readonly nonce: string
  /** Time from which the nonce is refused by its own age, so that it need not be stored. */
  readonly expiresAt: DateTime.Utc
}

/** A session as a sign-in begins it. */
export interface NewSession extends Session {
  /** The keyed hash of its token. */
  readonly hash: Uint8Array
  /** What the wallet signed. */
  readonly nonce: UsedNonce
}

/** The token of a session is to be replaced; tokens are named by their hashes. */
export interface Rotation {
  readonly sessionId: SessionId
  readonly from: Uint8Array
  readonly to: Uint8Array
  readonly at: DateTime.Utc
}

/**
 * Where wallet sessions are kept.
 *
 * **When to use**
 *
 * Use in services of this context alone. Middleware uses `RequestSession`.
 */
export class SessionStore extends Context.Service<
  SessionStore,
  {
    /**
     * Stores the session and that its nonce was used, both or none; false when the nonce was used before. A user keeps
     * `max` sessions; the oldest end.
     */
    readonly open: (session: NewSession, max: number) => Effect.Effect<boolean>
    /**
     * The session whose token, or token before that one, has one of the hashes. None when it ended or its user is no
     * member.
     */
    readonly find: (hashes: SecretHashes) => Effect.Effect<Option.Option<FoundSession>>
    /** Those of the sessions that have not ended and whose users are members. */
    readonly findOpen: (
      sessionIds: ReadonlyArray<SessionId>
    ) => Effect.Effect<ReadonlyArray<Pick<FoundSession, "session" | "tenantIsDisabled">>>
    /** Notes that the session was in use. */
    readonly touch: (sessionId: SessionId, at: DateTime.Utc) => Effect.Effect<void>
    /** Puts the hash under another pepper in the place of one, where it still is. */
    readonly rehash: (sessionId: SessionId, from: Uint8Array, to: Uint8Array) => Effect.Effect<void>
    /** False when another call has replaced the token `from` already. */
    readonly rotate: (rotation: Rotation) => Effect.Effect<boolean>
    readonly end: (sessionId: SessionId, at: DateTime.Utc) => Effect.Effect<void>
  }
>()("ballast/domain/identity/SessionStore") {}

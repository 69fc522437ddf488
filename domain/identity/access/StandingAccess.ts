/**
 * Whether keys and wallet sessions that were let in would be let in again: for what stays open longer than a request.
 * It names them by their ids, so nobody keeps a secret, and a session whose token is replaced stays the same.
 */
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import {
  type KeyExpired,
  KeyInvalid,
  type PermissionDenied,
  type SessionInvalid,
  type TenantDisabled
} from "#domain/errors/Errors.ts"
import { refusalOfScope } from "#domain/identity/access/requireScope.ts"
import { knownKey, refusalOfKey, unknownKey } from "#domain/identity/ApiKeys.ts"
import { isOver, sessionEnded } from "#domain/identity/Sessions.ts"
import { SessionStore } from "#domain/identity/SessionStore.ts"
import { tenantDisabled } from "#domain/identity/Tenant.ts"
import { TenantStore } from "#domain/identity/TenantStore.ts"
import { ApiKeyId, SessionId } from "#domain/values/Ids.ts"
import type { Scope } from "#domain/values/Scopes.ts"

export type Credential = ApiKeyId | SessionId

/** Why somebody who was let in is let in no longer. */
export type AccessEnded = KeyInvalid | KeyExpired | PermissionDenied | SessionInvalid | TenantDisabled

export const isSession = Schema.is(SessionId)
const isKey = Schema.is(ApiKeyId)

/**
 * Whether keys and wallet sessions that were let in still would be.
 *
 * **When to use**
 *
 * Use for what stays open. A request is let in by `ApiKeys` and `RequestSession`.
 */
export class StandingAccess extends Context.Service<
  StandingAccess,
  {
    /** Those that would be refused now, and why: keys also when they lack the scope. Reads two rows each at most. */
    readonly refusals: (
      credentials: ReadonlyArray<Credential>,
      scope: Scope
    ) => Effect.Effect<ReadonlyMap<Credential, AccessEnded>>
  }
>()("ballast/domain/identity/access/StandingAccess") {
  static readonly layer = Layer.effect(
    StandingAccess,
    Effect.gen(function* () {
      const tenants = yield* TenantStore
      const sessions = yield* SessionStore

      const refusedKeys = Effect.fnUntraced(function* (ids: ReadonlyArray<ApiKeyId>, scope: Scope, now: DateTime.Utc) {
        const found = ids.length === 0 ? [] : (yield* tenants.findKeys(ids)).map(knownKey)
        const byId = new Map(found.map((key) => [key.caller.apiKeyId, key]))
        return ids.map((id): readonly [ApiKeyId, AccessEnded | undefined] => {
          const key = byId.get(id)
          if (key === undefined) return [id, new KeyInvalid({ message: unknownKey })]
          return [id, refusalOfKey(key, DateTime.toEpochMillis(now)) ?? refusalOfScope(key.caller, scope)]
        })
      })

      const endedSessions = Effect.fnUntraced(function* (ids: ReadonlyArray<SessionId>, now: DateTime.Utc) {
        const found = ids.length === 0 ? [] : yield* sessions.findOpen(ids)
        const byId = new Map(found.map((one) => [one.session.sessionId, one]))
        return ids.map((id): readonly [SessionId, AccessEnded | undefined] => {
          const one = byId.get(id)
          if (one === undefined || isOver(one.session, now)) return [id, sessionEnded()]
          return [id, one.tenantIsDisabled ? tenantDisabled() : undefined]
        })
      })

      const refusals = Effect.fn("StandingAccess.refusals")(function* (
        credentials: ReadonlyArray<Credential>,
        scope: Scope
      ) {
        const now = yield* DateTime.now
        const keys = yield* refusedKeys(credentials.filter(isKey), scope, now)
        const ended = yield* endedSessions(credentials.filter(isSession), now)
        const refused = new Map<Credential, AccessEnded>()
        for (const [id, why] of [...keys, ...ended]) if (why !== undefined) refused.set(id, why)
        return refused
      })

      return StandingAccess.of({ refusals })
    })
  )
}

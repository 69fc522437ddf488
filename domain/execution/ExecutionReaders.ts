/**
 * Authenticates the reader of executions by what a request presents: an API key in `x-api-key` or as a bearer token, or
 * a wallet session as a bearer token or in its cookie. Source: shapes 2.26.
 */
import { Context, Effect, Layer } from "effect"
import {
  type KeyExpired,
  type KeyInvalid,
  KeyMissing,
  type PermissionDenied,
  type SessionInvalid,
  type TenantDisabled
} from "#domain/errors/Errors.ts"
import type { ExecutionReader } from "#domain/execution/ExecutionReader.ts"
import { ApiKeys } from "#domain/identity/ApiKeys.ts"
import { keyIn, type SentHeaders } from "#domain/identity/access/presented.ts"
import { RequestSession } from "#domain/identity/access/RequestSession.ts"
import { requireScope } from "#domain/identity/access/requireScope.ts"
import { noteCaller } from "#domain/request/RequestContext.ts"
import type { Scope } from "#domain/values/Scopes.ts"

export type ReaderRefused = KeyMissing | KeyInvalid | KeyExpired | PermissionDenied | TenantDisabled | SessionInvalid

/** The scope that a key needs; people who signed in read their own. */
export const readScope: Scope = "portfolios:read"

/**
 * Authenticates readers of executions.
 *
 * **When to use**
 *
 * Use in middleware that provides `ExecutionReader`.
 */
export class ExecutionReaders extends Context.Service<
  ExecutionReaders,
  {
    readonly identify: (
      headers: SentHeaders,
      address: string
    ) => Effect.Effect<ExecutionReader["Service"], ReaderRefused>
  }
>()("ballast/domain/execution/ExecutionReaders") {
  static readonly layer = Layer.effect(
    ExecutionReaders,
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const sessions = yield* RequestSession

      const byKey = Effect.fnUntraced(function* (secret: string, address: string) {
        const caller = yield* keys.authenticate(secret)
        // Before it can be refused: what is refused is listed for the key's tenant.
        yield* noteCaller(caller)
        yield* requireScope(caller, readScope)
        return { tenantId: caller.tenantId, walletId: null, credential: caller.apiKeyId, address }
      })

      const bySession = Effect.fnUntraced(function* (headers: SentHeaders, address: string) {
        if (headers["authorization"] === undefined && headers["cookie"] === undefined)
          return yield* new KeyMissing({
            message: "Send an API key in the x-api-key header, or a wallet session as Authorization: Bearer <token>"
          })
        const { member, session } = (yield* sessions.find(headers)).found
        return {
          tenantId: member.tenantId,
          walletId: member.walletId,
          credential: session.sessionId,
          address
        }
      })

      const identify = (headers: SentHeaders, address: string) => {
        const key = keyIn(headers)
        return key === undefined ? bySession(headers, address) : byKey(key, address)
      }

      return ExecutionReaders.of({ identify })
    })
  )
}

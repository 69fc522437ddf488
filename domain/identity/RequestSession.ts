/** Port: the wallet session that a request presents, as a bearer token or in its cookie. */
import { Context, type Effect } from "effect"
import type { PermissionDenied, SessionInvalid, TenantDisabled } from "#domain/Errors.ts"
import type { FoundSession } from "#domain/identity/SessionStore.ts"

/**
 * The wallet session that a request presents.
 *
 * **When to use**
 *
 * Use in middleware that provides `SignedIn` or `ExecutionReader`, whichever wire the request came by.
 */
export class RequestSession extends Context.Service<
  RequestSession,
  {
    /** `PermissionDenied` for a cookie that another origin's page made the browser send. */
    readonly find: (
      headers: Readonly<Record<string, string | undefined>>
    ) => Effect.Effect<FoundSession, SessionInvalid | PermissionDenied | TenantDisabled>
  }
>()("ballast/domain/identity/RequestSession") {}
